package rounds

import "testing"

func TestOf(t *testing.T) {
	want := map[bool]int{false: 10, true: 2}[testing.Short()]
	if got := Of(10, 2); got != want {
		t.Errorf("%d rounds, not %d", got, want)
	}
}

func TestThorough(t *testing.T) {
	for value, want := range map[string]bool{"": false, "1": true} {
		t.Run(value, func(t *testing.T) {
			t.Setenv(Few, value)
			skipped := true
			t.Run("test", func(t *testing.T) {
				defer func() { skipped = t.Skipped() }()
				Thorough(t)
			})
			if skipped != want {
				t.Errorf("%s=%s: skipped is %v", Few, value, skipped)
			}
		})
	}
}
