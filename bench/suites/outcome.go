package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// outcomes are the tests of a package by name, and what became of each.
type outcomes struct {
	states  map[string]string // passed, failed, skipped, pending, …
	texts   map[string]string // of ginkgo's specs, as its -focus sees them
	attempt map[string]int    // the run in which a test passed, where it was not the first
	wall    time.Duration     // of the first run
	output  string            // of the last run
}

const (
	passed = "passed"
	failed = "failed"
	// attempts is how often a package is run in all when tests fail.
	attempts = 3
)

// settle runs the suite on a control plane, again while a test fails.
func (s suite) settle(ctx context.Context, on plane) (outcomes, error) {
	settled, err := s.run(ctx, on, "")
	if err != nil {
		return settled, err
	}
	settled.attempt = map[string]int{}
	for n := 2; n <= attempts && len(settled.failures()) > 0; n++ {
		again, err := s.run(ctx, on, settled.focus())
		if err != nil {
			return settled, err
		}
		for _, name := range settled.failures() {
			if again.states[name] == passed {
				settled.states[name], settled.attempt[name] = passed, n
			}
		}
		settled.output = again.output
	}
	return settled, nil
}

func (o outcomes) failures() (names []string) {
	for name, state := range o.states {
		if state != passed && state != "skipped" && state != "pending" {
			names = append(names, name)
		}
	}
	return names
}

// focus is a regular expression for ginkgo's specs that failed; it is empty, which means all, if something else failed,
// such as what is done before the suite.
func (o outcomes) focus() string {
	var specs []string
	for _, name := range o.failures() {
		text, ok := o.texts[name]
		if !ok && strings.Contains(name, " ") { // neither a spec nor a Go test
			return ""
		}
		if ok {
			specs = append(specs, regexp.QuoteMeta(text))
		}
	}
	slices.Sort(specs)
	return strings.Join(specs, "|")
}

// run runs the suite once, of ginkgo's specs those that a regular expression matches. Failing tests are no error.
func (s suite) run(ctx context.Context, on plane, focus string) (outcomes, error) {
	report := filepath.Join(filepath.Dir(s.binary), "report.json")
	args := []string{"-test.v", "-test.timeout=20m"}
	if s.ginkgo {
		args = append(args, "-ginkgo.json-report="+report, "-ginkgo.seed=1", "-ginkgo.no-color")
	}
	if s.ginkgo && focus != "" {
		args = append(args, "-ginkgo.focus="+focus)
	}
	cmd := exec.CommandContext(ctx, s.binary, args...)
	cmd.Dir, cmd.Env = s.dir, on.environment()
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	begin := time.Now()
	err := cmd.Run()
	o := outcomes{states: map[string]string{}, texts: map[string]string{}, wall: time.Since(begin), output: output.String()}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited || ctx.Err() != nil {
		return o, errors.Join(err, ctx.Err())
	}
	o.goTests()
	if err := o.ginkgoSpecs(report); err != nil {
		return o, err
	}
	if err := os.Remove(report); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return o, err
	}
	if len(o.states) == 0 || err != nil && len(o.failures()) == 0 {
		return o, fmt.Errorf("%s told of no test that failed, and ended: %w\n%s", s.binary, err, o.output)
	}
	return o, nil
}

// plane is a control plane for suites.
type plane struct {
	assets      string // folder of its programs
	controllers string // those that slipway-cluster brings
}

// environment is the process's, without what would choose another control plane.
func (p plane) environment() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "TEST_ASSET_") && !strings.HasPrefix(v, "USE_EXISTING_CLUSTER=") && !strings.HasPrefix(v, "SLIPWAY_CONTROLLERS=") {
			env = append(env, v)
		}
	}
	if p.controllers != "" {
		env = append(env, "SLIPWAY_CONTROLLERS="+p.controllers)
	}
	return append(env, "KUBEBUILDER_ASSETS="+p.assets, "KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=60s", "KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT=60s")
}

var goTest = regexp.MustCompile(`(?m)^ *--- (PASS|FAIL|SKIP): (\S+) \(`)

// goTests reads what the test binary says of its own tests and their parts.
func (o outcomes) goTests() {
	state := map[string]string{"PASS": passed, "FAIL": failed, "SKIP": "skipped"}
	for _, m := range goTest.FindAllStringSubmatch(o.output, -1) {
		o.states[m[2]] = state[m[1]]
	}
}

// ginkgoSpecs reads a report of ginkgo, if there is one.
func (o outcomes) ginkgoSpecs(report string) error {
	text, err := os.ReadFile(report)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var suites []struct {
		SuiteDescription string
		SpecReports      []struct {
			ContainerHierarchyTexts []string
			LeafNodeType            string
			LeafNodeText            string
			State                   string
		}
	}
	if err := json.Unmarshal(text, &suites); err != nil {
		return fmt.Errorf("read ginkgo's report: %w", err)
	}
	seen := map[string]int{} // tests may share a name
	for _, suite := range suites {
		for _, spec := range suite.SpecReports {
			texts := append(spec.ContainerHierarchyTexts, spec.LeafNodeText)
			name := strings.Join(texts, " / ")
			if spec.LeafNodeType != "It" {
				name = spec.LeafNodeType + " " + name
			}
			if seen[name]++; seen[name] > 1 {
				name = fmt.Sprintf("%s (%d)", name, seen[name])
			}
			if spec.LeafNodeType == "It" {
				o.texts[name] = strings.Join(texts, " ")
			}
			o.states[name] = spec.State
		}
	}
	return nil
}
