package cri

import (
	"slices"
	"testing"
)

// TestEnvironment: a process that enters with a terminal finds its kind, which is the container's if that names one.
func TestEnvironment(t *testing.T) {
	container := append(make([]string, 0, 9), "PATH=/bin")
	for _, c := range []struct {
		terminal        bool
		container, want []string
	}{
		{false, container, container},
		{true, container, []string{"PATH=/bin", "TERM=xterm"}},
		{true, []string{"TERM=screen"}, []string{"TERM=screen"}},
	} {
		if got := (Entering{Terminal: c.terminal}).Environment(c.container); !slices.Equal(got, c.want) {
			t.Errorf("%v, terminal %t: %v", c.container, c.terminal, got)
		}
	}
	if beyond := container[:2][1]; beyond != "" {
		t.Errorf("the container's own environment got %s", beyond)
	}
}
