package containerinit

import (
	"slices"
	"testing"
)

func TestHierarchies(t *testing.T) {
	for text, want := range map[string][]string{
		"0::/\n": nil,
		"9:name=systemd:/\n5:devices:/\n4:memory:/a:b\n3:cpu,cpuacct:/\n0::/\n": {"memory", "cpu,cpuacct"},
		"": nil,
	} {
		if got := hierarchiesIn(text); !slices.Equal(got, want) {
			t.Errorf("%q has %q", text, got)
		}
	}
}
