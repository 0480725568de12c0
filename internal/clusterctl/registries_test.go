package clusterctl

import (
	"slices"
	"testing"
)

func TestRegistries(t *testing.T) {
	for value, want := range map[string][]string{
		"": nil, "localhost:5000": {"localhost:5000"}, " registry.corp, 10.1.2.3:443 ,,[::1]:5000": {"registry.corp", "10.1.2.3:443", "[::1]:5000"},
	} {
		c := &Control{getenv: func(string) string { return value }}
		if got, err := c.registries(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", value, got, err)
		}
	}
	for _, value := range []string{"https://registry.corp", "registry.corp/team", "a b", "*.corp", "user@registry.corp"} {
		c := &Control{getenv: func(string) string { return value }}
		if got, err := c.registries(); err == nil {
			t.Errorf("%q: %q", value, got)
		}
	}
}
