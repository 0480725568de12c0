package stage

import (
	"strconv"
	"time"
	"unicode"
)

// A setting is what one annotation says of an outcome.
type setting struct {
	name     string // the part of the annotation's key that follows the slash
	expected string // what its value may be
	put      func(*Outcome, string) error
}

// settings lists all annotations in the order in which they are followed.
func settings() []setting {
	const (
		span   = "a duration such as 500ms, 30s or 2m, or never"
		reason = "a reason in CamelCase, such as OOMKilled"
		used   = "a quantity such as 250m or 64Mi, at most 1Ti, or a share of the request such as 80%, at most 1000%"
	)
	return []setting{
		{cpuUsage, used, amount(func(o *Outcome) *Amount { return &o.CPU })},
		{"exit-code", "a number from 0 to 255", putExitCode},
		{"exit-after", span, duration(func(o *Outcome) *time.Duration { return &o.Run })},
		{"exit-reason", reason, putExitReason},
		{"exit-message", "a text", func(o *Outcome, text string) error { o.Message = text; return nil }},
		{"exit-runs", "how many runs end by themselves: 1 or more", putExitRuns},
		{"image-pull", "fail or succeed", putImagePull},
		{memoryUsage, used, amount(func(o *Outcome) *Amount { return &o.Memory })},
		{"ready-after", span, duration(func(o *Outcome) *time.Duration { return &o.Ready })},
		{"restart-after", "a duration such as 500ms or 30s, of the first wait before a restart", putRestartAfter},
		{"start-after", span, duration(func(o *Outcome) *time.Duration { return &o.Start })},
		{"stop-after", span, duration(func(o *Outcome) *time.Duration { return &o.Stop })},
	}
}

func settingNames() []string {
	var names []string
	for _, s := range settings() {
		names = append(names, s.name)
	}
	return names
}

// duration makes a setting of what takes a time or never happens.
func duration(field func(*Outcome) *time.Duration) func(*Outcome, string) error {
	return func(o *Outcome, value string) error {
		d := Never
		if value != "never" {
			var err error
			if d, err = time.ParseDuration(value); err != nil || d < 0 {
				return errValue
			}
		}
		*field(o) = d
		return nil
	}
}

// putExitCode also ends a container that otherwise would run until it is stopped: after the time that those of Jobs
// take.
func putExitCode(o *Outcome, value string) error {
	code, err := strconv.ParseUint(value, 10, 8)
	if err != nil {
		return errValue
	}
	o.ExitCode = int32(code)
	if o.Run == Never {
		o.Run = JobRun
	}
	return nil
}

func putExitReason(o *Outcome, value string) error {
	for i, r := range value {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return errValue
		}
	}
	if value == "" || !unicode.IsUpper(rune(value[0])) {
		return errValue
	}
	o.Reason = value
	return nil
}

func putExitRuns(o *Outcome, value string) error {
	runs, err := strconv.ParseInt(value, 10, 32)
	if err != nil || runs < 1 {
		return errValue
	}
	o.Runs = int32(runs)
	return nil
}

func putImagePull(o *Outcome, value string) error {
	if value != "fail" && value != "succeed" {
		return errValue
	}
	o.NoImage, o.HasImage = value == "fail", value == "succeed"
	return nil
}

func putRestartAfter(o *Outcome, value string) error {
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		return errValue
	}
	o.BackOff = d
	return nil
}
