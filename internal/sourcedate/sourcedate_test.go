package sourcedate

import (
	"testing"
	"time"
)

func TestRead(t *testing.T) {
	read := func(value string) (time.Time, bool, error) {
		return Read(func(name string) string { return map[string]string{"SOURCE_DATE_EPOCH": value}[name] })
	}
	if _, set, err := read(""); set || err != nil {
		t.Errorf("unset: %v, %v", set, err)
	}
	if when, set, err := read("1767225600"); !set || err != nil || when.Format(time.RFC3339) != "2026-01-01T00:00:00Z" {
		t.Errorf("a time: %v, %v, %v", when, set, err)
	}
	for _, wrong := range []string{"today", "-1", "253402300800", "1e9"} {
		if _, _, err := read(wrong); err == nil {
			t.Errorf("%q is taken for a time", wrong)
		}
	}
}
