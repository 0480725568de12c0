package dev

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// earlySuite reads what it tests in TestMain, where go test does not see it.
const earlySuite = `
-- config/crd.yaml --
required: []
-- early/suite_test.go --
package early

import (
	"os"
	"testing"
)

var definition []byte

func TestMain(m *testing.M) {
	var err error
	if definition, err = os.ReadFile("../config/crd.yaml"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func TestDefinition(t *testing.T) {
	if string(definition) != "required: []\n" {
		t.Errorf("the definition is %s", definition)
	}
}
`

// lateSuite has a TestMain that reads nothing before its tests.
const lateSuite = `
-- config/crd.yaml --
required: []
-- late/suite_test.go --
package late

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	code := m.Run()
	os.Remove("left-over")
	os.Exit(code)
}

func TestNothing(*testing.T) {}
`

// A testCache runs the tests of a module one time after the other.
type testCache struct {
	*bench
	plane  ControlPlane
	assets string
	usual  []string
}

func newTestCache(t *testing.T, files string) *testCache {
	t.Helper()
	c := &testCache{bench: newBench(t, files), assets: t.TempDir()}
	program := filepath.Join(c.assets, "kube-apiserver")
	c.write(t, program, "one")
	c.plane = ControlPlane{
		Assets:  func(context.Context) (string, error) { return c.assets, nil },
		Program: func(context.Context) (string, error) { return program, nil },
	}
	for _, name := range append(slices.Clone(planeVariables), existingVariable, godebugVariable) {
		c.Env = append(c.Env, name+"=")
	}
	c.usual = c.Env
	return c
}

func (c *testCache) write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// run runs the tests and reports whether their result is from the cache.
func (c *testCache) run(t *testing.T, s Suites, env ...string) (cached bool, err error) {
	t.Helper()
	c.Env = append(slices.Clone(c.usual), env...)
	c.stdout.Reset()
	s.Args = append(s.Args, "./...")
	err = Test(t.Context(), c.Options, "", s, c.plane)
	if err == nil && !strings.Contains(c.stdout.String(), "ok  \t") {
		t.Fatalf("go test printed %s%s", c.stdout.String(), c.stderr.String())
	}
	return strings.Contains(c.stdout.String(), "(cached)"), err
}

// TestInputs: each thing that decides about a control plane and is changed has all tests run again; the same things
// have none run.
func TestInputs(t *testing.T) {
	c := newTestCache(t, earlySuite)
	with := func(s Suites, env ...string) func() (bool, error) {
		return func() (bool, error) { return c.run(t, s, env...) }
	}
	usual := with(Suites{})
	for _, step := range []struct {
		name   string
		change func()
		run    func() (bool, error)
		cached bool
	}{
		{"the first run", nil, usual, false},
		{"nothing", nil, usual, true},
		{"controllers", nil, with(Suites{Controllers: true}), false},
		{"the same controllers", nil, with(Suites{Controllers: true}), true},
		{"other controllers", nil, with(Suites{Controllers: true, ControllerNames: []string{"gc"}}), false},
		{"controllers of the environment", nil, with(Suites{}, controllersVariable+"=1"), true},
		{"simulated pods", nil, with(Suites{Controllers: true, SimulatedPods: "running"}), false},
		{"back again", nil, usual, true},
		{"definitions", nil, with(Suites{Definitions: "/other.yaml"}), false},
		{"other assets", nil, with(Suites{}, assetsVariable+"="+t.TempDir()), false},
		{"an existing cluster", nil, with(Suites{}, existingVariable+"=true"), false},
		{"the same one, which may hold something else", nil, with(Suites{}, existingVariable+"=true"), false},
		{"a setting of Go's", nil, with(Suites{}, godebugVariable+"=madvdontneed=1"), false},
		{"another program", func() { c.write(t, filepath.Join(c.assets, "kube-apiserver"), "two") }, usual, false},
		{"the same program", nil, usual, true},
		{"a link to it from another project", func() {
			if err := os.Link(filepath.Join(c.assets, "kube-apiserver"), filepath.Join(t.TempDir(), "kube-apiserver")); err != nil {
				t.Fatal(err)
			}
		}, usual, true},
		{"a coverage profile", nil, with(Suites{Args: []string{"-coverprofile=cover.out"}}), false},
		{"one that was written before", nil, with(Suites{Args: []string{"-coverprofile=cover.out"}}), true},
		{"a new file", func() { c.write(t, filepath.Join(c.Dir, "config", "webhooks.yaml"), "") }, usual, false},
		{"programs in bin", func() {
			if err := os.Mkdir(filepath.Join(c.Dir, "bin"), 0o755); err != nil {
				t.Fatal(err)
			}
			c.write(t, filepath.Join(c.Dir, "bin", "manager"), "")
		}, usual, true},
	} {
		if step.change != nil {
			step.change()
		}
		if cached, err := step.run(); err != nil || cached != step.cached {
			t.Errorf("%s: cached is %v, want %v: %v\n%s%s", step.name, cached, step.cached, err, c.stdout.String(), c.stderr.String())
		}
	}
	c.write(t, filepath.Join(c.Dir, "config", "crd.yaml"), "required: [a]\n")
	if _, err := usual(); codeOf(err) != 1 {
		t.Errorf("Test returned %v after a change that fails the test", err)
	}
}

// TestInputsOfLateSuites: go test sees itself what such suites read.
func TestInputsOfLateSuites(t *testing.T) {
	c := newTestCache(t, lateSuite)
	for _, want := range []bool{false, true} {
		c.write(t, filepath.Join(c.Dir, "config", "crd.yaml"), strings.Repeat("#", len(c.stdout.String())))
		if cached, err := c.run(t, Suites{}); err != nil || cached != want {
			t.Errorf("cached is %v, want %v: %v", cached, want, err)
		}
	}
}

func TestStartsEarly(t *testing.T) {
	for body, want := range map[string]bool{
		"os.Exit(m.Run())": false,
		"flag.Parse()\n\tcode := m.Run()\n\ttestEnv.Stop()\n\tos.Exit(code)": false,
		"code, err := runSuite(m)\n\tos.Exit(code)":                          true,
		"shared.Main(m)":                          true,
		"testEnv.Start()\n\tos.Exit(m.Run())":     true,
		"func() { testEnv.Start() }()\n\tm.Run()": true,
		"ctrl.SetLogger(zap.New())\n\tm.Run()":    true,
		"runner.Run()\n\tm.Run()":                 true,
		"":                                        false,
	} {
		if got := startsEarly([]byte("package p\n\nfunc TestMain(m *testing.M) {\n\t" + body + "\n}\n")); got != want {
			t.Errorf("%q: got %v, want %v", body, got, want)
		}
	}
	for _, src := range []string{"package p\n\nfunc (suite) TestMain(m *testing.M) { start() }\n", "package p\n\nfunc TestMain(m *testing.M) {", "package p\n"} {
		if startsEarly([]byte(src)) {
			t.Errorf("%q starts early", src)
		}
	}
}
