package project_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/project"
)

const settingsHead = "domain: example.com\nlayout:\n- go.kubebuilder.io/v4\nprojectName: op\nrepo: example.com/op\nversion: \"3\"\n"

func settings(t *testing.T, text string) (project.Settings, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, project.FileName), []byte(settingsHead+text), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := project.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p.Settings()
}

func TestSettings(t *testing.T) {
	for _, none := range []string{"", "plugins:\n  other: {}\n", "plugins:\n  slipway.dev/v1: {}\n"} {
		if s, err := settings(t, none); err != nil || len(s.Managers) != 0 {
			t.Errorf("%q: %+v, %v", none, s, err)
		}
	}
	s, err := settings(t, "plugins:\n  slipway.dev/v1:\n    managers:\n    - package: cmd\n      args: [--a, b]\n      env: {REGION: x}\n")
	if err != nil || len(s.Managers) != 1 || s.Managers[0].Package != "cmd" || !slices.Equal(s.Managers[0].Args, []string{"--a", "b"}) || s.Managers[0].Env["REGION"] != "x" || s.Managers[0].Line != 10 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestSettingsRefused: a mistake is refused with its line, and so is a variable that chooses a cluster or a program.
func TestSettingsRefused(t *testing.T) {
	const head = "plugins:\n  slipway.dev/v1:\n"
	for text, line := range map[string]int{
		head + "    manager: []\n":                                       9,
		head + "    managers:\n    - package: cmd\n      arg: [a]\n":     11,
		head + "    managers:\n    - package: cmd\n      args: {a: b}\n": 10,
		"plugins:\n  slipway.dev/v1: [a]\n":                              8,
		head + "    managers:\n    - env: {KUBECONFIG: /x}\n":            10,
		head + "    managers:\n    - env: {<<: {PATH: /x}}\n":            10,
		head + "    managers:\n    - env: {PATH: /x}\n":                  10,
		head + "    managers:\n    - env: {LD_PRELOAD: /x}\n":            10,
		head + "    managers:\n    - env: {SLIPWAY_CLUSTER: /x}\n":       10,
	} {
		_, err := settings(t, text)
		if e, ok := errors.AsType[*project.FieldError](err); !ok || e.Line != line {
			t.Errorf("%s: %v, want line %d", text, err, line)
		}
	}
	if _, err := settings(t, head+"    managers:\n    - env: {PATHS: /x, LDAP: y}\n"); err != nil {
		t.Error(err)
	}
}
