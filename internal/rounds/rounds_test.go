package rounds

import "testing"

func TestOf(t *testing.T) {
	for value, want := range map[string]int{"": 10, "1": 2} {
		t.Setenv(Few, value)
		if got := Of(t, 10, 2); got != want {
			t.Errorf("%s=%s: %d rounds, not %d", Few, value, got, want)
		}
	}
}
