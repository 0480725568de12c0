package prove

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// slipway is the program that is tested.
	slipway = os.Getenv("SLIPWAY")
	// tenant is the operator of this module.
	tenant string
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// run builds the operator, and slipway unless there is one, and runs the tests.
func run(m *testing.M) (code int, err error) {
	if os.Getenv("SLIPWAY_CLUSTER") == "" {
		fmt.Fprintln(os.Stderr, "SLIPWAY_CLUSTER names no compiled cluster program: all tests are skipped")
		return m.Run(), nil
	}
	dir, err := os.MkdirTemp("", "slipway-prove")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	tenant = filepath.Join(dir, "tenant")
	if err := build(".", tenant, "./tenant"); err != nil {
		return 0, err
	}
	if slipway == "" {
		slipway = filepath.Join(dir, "slipway")
		if err := build(filepath.Join("..", ".."), slipway, "./cmd/slipway"); err != nil {
			return 0, err
		}
	}
	return m.Run(), nil
}

func build(module, program, pkg string) error {
	if out, err := exec.Command("go", "build", "-C", module, "-o", program, pkg).CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// A result is what `slipway prove --output json` finds.
type result struct {
	Plans, Writes                                    int
	LearningSeconds, ExploringSeconds, MedianSeconds float64
	Leftover                                         []string
	Findings                                         []finding
}

// A finding is one fault of the operator.
type finding struct {
	ID, Plan, Kind, Oracle, Diagnosis string
	Step                              int
	Differences                       []difference
	Details, Writes, Plans            []string
	Confirmed                         bool
}

// A difference is what an object has with the failure (Got), and without it (Want).
type difference struct{ Object, Field, Got, Want string }

// String is the finding as the log of a test shows it.
func (f finding) String() string {
	lines := []string{fmt.Sprintf("%s %s/%s, %d plans, confirmed %t: %s\n  %s", f.ID, f.Kind, f.Oracle, len(f.Plans), f.Confirmed, f.Plan, f.Diagnosis)}
	for _, d := range f.Differences {
		lines = append(lines, fmt.Sprintf("  %s %s: %q, without the failure %q", d.Object, d.Field, d.Got, d.Want))
	}
	return strings.Join(append(lines, f.Details...), "\n  ")
}

// step is a step of a scenario, with an object of this module's group.
func step(verb, kind, name, spec string) string {
	text := fmt.Sprintf("- %s:\n    apiVersion: prove.example.com/v1\n    kind: %s\n    metadata: {name: %s, namespace: default}\n", verb, kind, name)
	if spec != "" {
		text += fmt.Sprintf("    spec: {%s}\n", spec)
	}
	return text
}

// prove runs `slipway prove` on a scenario whose files are in a folder of testdata.
func prove(t *testing.T, folder, command string, steps ...string) (result, int) {
	t.Helper()
	return proveIn(t, written(t, folder, command, steps...), "-f", "scenario.yaml")
}

// written is a folder with such a scenario.
func written(t *testing.T, folder, command string, steps ...string) string {
	t.Helper()
	needCluster(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", folder))); err != nil {
		t.Fatal(err)
	}
	scenario := fmt.Sprintf("command: [%s]\ninstall: [crd.yaml, namespace.yaml]\nsteps:\n%s", command, strings.Join(steps, ""))
	if err := os.WriteFile(filepath.Join(dir, "scenario.yaml"), []byte(scenario), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func needCluster(t *testing.T) {
	t.Helper()
	if os.Getenv("SLIPWAY_CLUSTER") == "" {
		t.Skip("SLIPWAY_CLUSTER names no compiled cluster program")
	}
}

// proveIn runs `slipway prove` with flags in a folder.
func proveIn(t *testing.T, dir string, flags ...string) (result, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), slipway, append([]string{"prove", "--output", "json"}, flags...)...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	code := cmd.ProcessState.ExitCode()
	r, err := readResult(stdout.Bytes())
	if err != nil {
		t.Fatalf("exit %d: %v\n%s%s", code, err, stdout.String(), stderr.String())
	}
	t.Logf("exit %d: %d plans, %d writes; learned in %.1fs, explored in %.1fs, %.2fs a plan", code, r.Plans, r.Writes, r.LearningSeconds, r.ExploringSeconds, r.MedianSeconds)
	for _, f := range r.Findings {
		t.Log(f)
	}
	return r, code
}

// readResult looks for the result among the events.
func readResult(events []byte) (result, error) {
	scanner := bufio.NewScanner(bytes.NewReader(events))
	scanner.Buffer(nil, 1<<24)
	for scanner.Scan() {
		var e struct {
			Event string
			Value result
		}
		if err := json.Unmarshal(scanner.Bytes(), &e); err == nil && e.Event == "result" {
			return e.Value, nil
		}
	}
	return result{}, errors.Join(errors.New("no result"), scanner.Err())
}

// correct fails if `slipway prove` finds a fault in the operator, or has not seen it work.
func correct(t *testing.T, folder, command string, steps ...string) {
	t.Helper()
	r, code := prove(t, folder, command, steps...)
	r.isCorrect(t, code)
}

// isCorrect fails if there is a finding, or the operator has not been seen to work.
func (r result) isCorrect(t *testing.T, code int) {
	t.Helper()
	if code != 0 || slices.ContainsFunc(r.Findings, func(f finding) bool { return f.Confirmed }) {
		t.Errorf("exit %d, with findings for an operator without a mistake", code)
	}
	if r.Writes == 0 {
		t.Error("the operator has written nothing: nothing was proved")
	}
}

// A mistake is what `slipway prove` has to say of an operator.
type mistake struct {
	kinds     []string // of failures that show it: one of these, any if there are none
	object    string   // matches an object and a field that differ, or a detail
	diagnosis string   // matches what the operator's author reads
}

// has fails unless a confirmed finding is about the mistake.
func (m mistake) has(t *testing.T, r result, code int) {
	t.Helper()
	if code != 1 {
		t.Errorf("exit %d, want 1", code)
	}
	for _, f := range r.Findings {
		if f.Confirmed && (m.kinds == nil || slices.Contains(m.kinds, f.Kind)) && m.about(f) && regexp.MustCompile(m.diagnosis).MatchString(f.Diagnosis) {
			return
		}
	}
	t.Errorf("no confirmed finding of the kinds %v about %q with a diagnosis like %q", m.kinds, m.object, m.diagnosis)
}

func (m mistake) about(f finding) bool {
	object := regexp.MustCompile(m.object)
	return slices.ContainsFunc(f.Details, object.MatchString) || slices.ContainsFunc(f.Differences, func(d difference) bool {
		return object.MatchString(d.Object + " " + d.Field)
	})
}
