package fault

import (
	"errors"
	"testing"
)

func TestText(t *testing.T) {
	cause := errors.New("why\nin two lines")
	e := &Error{What: "what", Where: "where", Err: cause, Hint: "hint", Next: "next"}
	want := "what\n  where: where\n  why:   why\n         in two lines\n  hint:  hint\n  next:  next"
	if got := Text(e); got != want {
		t.Errorf("Text = %s\nwant   %s", got, want)
	}
	if got, want := e.Error(), "what at where: why\nin two lines (hint); next: next"; got != want {
		t.Errorf("Error = %s, want %s", got, want)
	}
	if got := Text(&Error{What: "only that"}); got != "only that" {
		t.Errorf("Text of one part = %s", got)
	}
	if !errors.Is(e, cause) || Text(cause) != cause.Error() {
		t.Error("the cause is lost")
	}
}
