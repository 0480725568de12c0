package generate

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/slipway-dev/slipway/test/differential/generate/mutant"
	"github.com/slipway-dev/slipway/test/differential/generate/oracle"
)

// herd is mutants in one module, and controller-gen, which has loaded them.
type herd struct {
	dir, slipway string
	oracle       *oracle.Oracle
}

// gather writes mutants and has controller-gen load them.
func (r *ranch) gather(t *testing.T, mutants []namedMutant) *herd {
	t.Helper()
	h := &herd{dir: t.TempDir(), slipway: r.slipway}
	h.writeModule(t, r.module)
	for _, m := range mutants {
		if err := m.Write(filepath.Join(h.dir, m.name)); err != nil {
			t.Fatal(err)
		}
		for _, name := range m.Markers {
			r.drawn[name] = true
		}
	}
	var err error
	if h.oracle, err = oracle.Start(context.WithoutCancel(t.Context()), r.oracle, h.dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.oracle.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// writeModule writes a module that requires what the one in a folder does.
func (h *herd) writeModule(t *testing.T, like string) {
	t.Helper()
	files := map[string]string{"header.txt": "# Copyright YEAR\n"}
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(like, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(content)
	}
	file, err := modfile.Parse("go.mod", []byte(files["go.mod"]), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.AddModuleStmt("example.com"); err != nil {
		t.Fatal(err)
	}
	files["go.mod"] = string(modfile.Format(file.Syntax))
	writeFiles(t, h.dir, files)
}

// result is what our program made of a mutant.
type result struct {
	files    map[string][]byte
	failed   bool
	findings string
}

// nameless is what controller-gen writes of kinds whose versions are all skipped: a
// definition without a name, which we do not write.
const nameless = "_.yaml"

// compare returns the result of controller-gen's that ours is, or how ours differs from all of them.
func (h *herd) compare(t *testing.T, name string, source mutant.Source) (same oracle.Variant, difference string) {
	t.Helper()
	ours := h.ours(t, name, source)
	request := oracle.Request{Options: source.Options}
	for _, root := range source.Roots {
		request.Packages = append(request.Packages, path.Join("example.com", name, root))
	}
	if strings.Contains(ours.findings, "panic") {
		return same, "we panicked:\n" + ours.findings
	}
	var answer oracle.Answer
	for _, request.Runs = range []int{1, 40} { // most need one
		var err error
		if answer, err = h.oracle.Ask(request); err != nil {
			t.Fatal(err)
		}
		for _, v := range answer.Variants {
			delete(v.Files, nameless)
		}
		if i := slices.IndexFunc(answer.Variants, ours.is); i >= 0 {
			return answer.Variants[i], ""
		}
	}
	return same, ours.difference(t, answer.Variants[0])
}

// ours runs our program as controller-gen.
func (h *herd) ours(t *testing.T, name string, source mutant.Source) result {
	t.Helper()
	out := filepath.Join(h.dir, "out", name)
	args := []string{"controller-gen", "crd", "output:dir=" + out}
	if source.Options != "" {
		args[1] += ":" + source.Options
	}
	for _, root := range source.Roots {
		args = append(args, "paths=./"+path.Join(name, root))
	}
	cmd := exec.CommandContext(t.Context(), h.slipway, args...)
	cmd.Dir = h.dir
	told, err := cmd.CombinedOutput()
	r := result{failed: err != nil, findings: string(told)}
	if _, err := os.Stat(out); err == nil {
		r.files = readTree(t, out)
	}
	return r
}

// is reports whether a result of controller-gen's is ours. It may crash where we
// do not.
func (r result) is(v oracle.Variant) bool {
	switch {
	case v.Panic != "":
		return true
	case v.Failed() || r.failed:
		return v.Failed() == r.failed && r.untold(v) == nil
	}
	return len(v.Files) == len(r.files) && r.different(v) == ""
}

// different names the first file that is not the same.
func (r result) different(v oracle.Variant) string {
	for name, content := range v.Files {
		if string(withoutVersion([]byte(content))) != string(withoutVersion(r.files[name])) {
			return name
		}
	}
	return ""
}

// near is how many lines apart two reports about one mistake may be: ours are at
// the marker, controller-gen's are often at what the marker describes.
const near = 14

// untold are the errors of controller-gen that we said nothing about.
func (r result) untold(v oracle.Variant) []string {
	var untold []string
	for _, e := range v.Errors {
		file, line, ok := place(e)
		if !ok {
			continue // it did not know where
		}
		told := slices.ContainsFunc(strings.Split(r.findings, "\n"), func(f string) bool {
			ourFile, ourLine, ok := place(f)
			return ok && (file == ourFile || strings.HasSuffix(file, "/"+ourFile)) && max(line-ourLine, ourLine-line) <= near
		})
		if !told {
			untold = append(untold, e)
		}
	}
	return untold
}

// place reads file:line: at the beginning of a message.
func place(message string) (file string, line int, ok bool) {
	parts := strings.SplitN(message, ":", 3)
	if len(parts) < 3 || strings.Contains(parts[0], "<input>") { // an option, which has no place
		return "", 0, false
	}
	line, err := strconv.Atoi(parts[1])
	return parts[0], line, err == nil
}

func (r result) difference(t *testing.T, v oracle.Variant) string {
	t.Helper()
	if v.Failed() || r.failed {
		return fmt.Sprintf("controller-gen failed: %t, told:\n%s\nwe failed: %t, told:\n%s", v.Failed(), strings.Join(v.Errors, "\n"), r.failed, r.findings)
	}
	name := r.different(v)
	if name == "" {
		return fmt.Sprintf("controller-gen wrote %d files, we wrote %d", len(v.Files), len(r.files))
	}
	dir := t.TempDir()
	peers, ours := filepath.Join(dir, "peers"), filepath.Join(dir, "ours")
	for path, content := range map[string][]byte{peers: []byte(v.Files[name]), ours: r.files[name]} {
		if err := os.WriteFile(path, withoutVersion(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return diff(peers, ours)
}
