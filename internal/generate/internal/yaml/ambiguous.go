package yaml

import (
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// words are the plain texts that are not strings for some YAML reader.
var words = func() map[string]bool {
	m := make(map[string]bool)
	for _, w := range []string{"y", "yes", "on", "true", "n", "no", "off", "false", "null", ".nan", ".inf", "+.inf", "-.inf"} {
		m[w] = true
		m[strings.ToUpper(w)] = true
		m[capitalised(w)] = true
	}
	m[".NaN"] = true
	delete(m, ".Nan")
	m[""], m["~"] = true, true
	return m
}()

// capitalised is w with its first letter in upper case.
func capitalised(w string) string {
	i := strings.IndexFunc(w, func(r rune) bool { return r >= 'a' })
	return w[:i] + strings.ToUpper(w[i:i+1]) + w[i+1:]
}

var (
	float  = lazy.Regexp(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	base60 = lazy.Regexp(`^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$`)
)

// isAmbiguous reports whether text without quotes could be read as something
// else than a string: a boolean, null, a number, a time, or a number to base 60
// as old readers have it.
func isAmbiguous(text string) bool {
	if text == "" {
		return true
	}
	switch c := text[0]; {
	case c == '.':
		_, err := strconv.ParseFloat(text, 64)
		return err == nil || words[text]
	case c >= '0' && c <= '9', c == '+', c == '-':
		return words[text] || isNumber(text) || isTime(text) || base60().MatchString(text)
	case c == '~' || len(text) <= len("false"):
		return words[text]
	}
	return false
}

func isNumber(text string) bool {
	digits := strings.ReplaceAll(text, "_", "")
	if _, err := strconv.ParseInt(digits, 0, 64); err == nil {
		return true
	}
	if _, err := strconv.ParseUint(digits, 0, 64); err == nil {
		return true
	}
	if !float().MatchString(digits) {
		return false
	}
	_, err := strconv.ParseFloat(digits, 64)
	return err == nil
}

// isTime reports whether text has one of the forms of a timestamp; all begin
// with a year of four digits.
func isTime(text string) bool {
	if len(text) < 5 || text[4] != '-' || strings.Trim(text[:4], "0123456789") != "" {
		return false
	}
	for _, layout := range []string{"2006-1-2T15:4:5.999999999Z07:00", "2006-1-2t15:4:5.999999999Z07:00", "2006-1-2 15:4:5.999999999", "2006-1-2"} {
		if _, err := time.Parse(layout, text); err == nil {
			return true
		}
	}
	return false
}
