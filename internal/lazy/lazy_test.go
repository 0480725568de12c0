package lazy_test

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/lazy"
)

func TestRegexp(t *testing.T) {
	name := lazy.Regexp(`^[a-z]+$`)
	if first := name(); !first.MatchString("abc") || first.MatchString("a1") || name() != first {
		t.Error("the expression matches other texts, or is compiled twice")
	}
	wrong := lazy.Regexp(`(`)
	defer func() {
		if recover() == nil {
			t.Error("a wrong expression does not panic")
		}
	}()
	wrong()
}
