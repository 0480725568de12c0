// Package sourcedate reads SOURCE_DATE_EPOCH, by which what is made does not depend on the time of the day:
//
//	when, set, err := sourcedate.Read(os.Getenv)
//
// The variable is that of reproducible builds, https://reproducible-builds.org/specs/source-date-epoch/.
package sourcedate

import (
	"strconv"
	"time"

	"github.com/slipway-dev/slipway/internal/report"
)

// Variable is the name of the variable.
const Variable = "SOURCE_DATE_EPOCH"

// latest is the last second of the year 9999: later years do not fit into four digits.
const latest = 253402300799

// Read returns the time that the variable holds, in UTC, and whether it is set. The error is a [report.Error] about
// what is no time.
func Read(getenv func(string) string) (when time.Time, set bool, err error) {
	text := getenv(Variable)
	if text == "" {
		return time.Time{}, false, nil
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 0 || seconds > latest {
		return time.Time{}, false, &report.Error{What: "invalid time " + strconv.Quote(text), Where: Variable, Hint: "use seconds since 1970", Code: report.UsageCode}
	}
	return time.Unix(seconds, 0).UTC(), true, nil
}
