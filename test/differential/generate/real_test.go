package generate

import (
	"flag"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/bench/generation"
	"github.com/slipway-dev/slipway/test/differential/generate/oracle"
)

var realFlag = flag.Bool("real", false, "compare on the longer list of real projects")

// TestRealProjects generates for real projects, in place on a copy, with both programs, and compares the whole trees.
// The DeepCopy methods are type-checked. A project that is not available here, or of which controller-gen finds a
// module missing, is skipped, and why is told.
func TestRealProjects(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-real")
	}
	programs, calls, compared := testPrograms(t), 0, 0
	for _, project := range realProjects {
		t.Run(project.module, func(t *testing.T) {
			if project.longer && !*realFlag {
				t.Skip("on the longer list: make test-long-real")
			}
			calls += len(project.calls)
			tree := project.fetch(t)
			for _, c := range project.calls {
				t.Run(strings.Join(c.generators, "+"), func(t *testing.T) {
					c.compare(t, programs, tree)
					compared++ // which skipping does not reach
				})
			}
		})
	}
	t.Logf("%d of %d calls compared", compared, calls)
	if *realFlag && compared == 0 {
		t.Error("nothing was compared")
	}
}

// written is the folder, in the project, for all that is not written beside the code.
const written = "written"

// arguments are those of the call. Two options make sure that the generators write something: no project has its
// DeepCopy methods with such a header, and some have floating-point numbers.
func (c realCall) arguments() []string {
	var args []string
	for _, g := range c.generators {
		name, _, _ := strings.Cut(g, ":")
		switch name {
		case "object":
			g = "object:headerFile=" + headerName
		case "crd":
			g = "crd:allowDangerousTypes=true"
		case "rbac":
			g = "rbac:roleName=manager"
		}
		args = append(args, g)
		if name != "object" {
			args = append(args, "output:"+name+":dir="+path.Join(written, name))
		}
	}
	for _, p := range c.patterns {
		args = append(args, "paths="+p)
	}
	return args
}

// compare runs both programs on the tree, which is as before then.
func (c realCall) compare(t *testing.T, programs generation.Programs, tree *realTree) {
	peer := tree.run(t, programs.Peer, c.arguments()...)
	if reason := peer.missing(); peer.failed() && reason != "" {
		t.Skipf("controller-gen cannot load it here:\n%s", reason)
	}
	ours := tree.run(t, programs.Slipway, append([]string{"controller-gen"}, c.arguments()...)...)
	if peer.crashed() || ours.crashed() || c.crashes {
		c.compareCrashes(t, peer, ours)
		return
	}
	if failed := c.mistaken != ""; peer.failed() != failed || ours.failed() != failed {
		t.Fatalf("failure expected: %t; controller-gen: status %d\n%s\nslipway: status %d\n%s", failed, peer.code, peer.output, ours.code, ours.output)
	}
	if c.mistaken != "" {
		compareMistakes(t, peer, ours)
		return
	}
	c.mustWrite(t, peer)
	code := ours.changed
	if c.instances {
		ours.changed = maps.Clone(code)
		for name, content := range code {
			if path.Ext(name) == ".go" {
				ours.changed[name] = withoutArguments(t, content)
			}
		}
	}
	differing := differingFiles(ours.changed, peer.changed)
	for run := 1; run < variants && len(differing) > 0; run++ { // its order is chance at times
		again := tree.run(t, programs.Peer, c.arguments()...)
		still := differingFiles(ours.changed, again.changed)
		differing = slices.DeleteFunc(differing, func(name string) bool { return !slices.Contains(still, name) })
	}
	for _, name := range differing {
		t.Errorf("%s is not what controller-gen writes in any of %d runs:\n%s", name, variants, diffText(t, peer.changed[name], ours.changed[name]))
	}
	t.Logf("%d files are the same", len(peer.changed)-len(differing))
	for _, err := range tree.typeCheck(t, code) {
		t.Errorf("what was written does not compile: %v", err)
	}
}

func (c realCall) compareCrashes(t *testing.T, peer, ours realResult) {
	t.Helper()
	if peer.crashed() != c.crashes || ours.crashed() || ours.code > 1 {
		t.Errorf("crash of controller-gen expected: %t; controller-gen: status %d\n%s\nslipway: status %d\n%s", c.crashes, peer.code, peer.output, ours.code, ours.output)
	}
	t.Logf("controller-gen crashes; we end with status %d and %d files", ours.code, len(ours.changed))
}

// mustWrite: each generator wrote something, or nothing is compared.
func (c realCall) mustWrite(t *testing.T, r realResult) {
	t.Helper()
	for _, g := range c.generators {
		name, _, _ := strings.Cut(g, ":")
		wrote := slices.ContainsFunc(slices.Collect(maps.Keys(r.changed)), func(file string) bool {
			return strings.HasPrefix(filepath.ToSlash(file), path.Join(written, name)+"/") || name == "object" && filepath.Base(file) == deepCopyName
		})
		if !wrote {
			t.Errorf("controller-gen wrote nothing with %s", name)
		}
	}
}

// compareMistakes: we tell every place that controller-gen tells.
func compareMistakes(t *testing.T, peer, ours realResult) {
	t.Helper()
	v := oracle.Variant{Errors: slices.Collect(strings.Lines(peer.output))}
	for _, e := range (result{findings: ours.output}).untold(v) {
		t.Errorf("not told by us: %s", e)
	}
	if t.Failed() {
		t.Logf("we told:\n%s", ours.output)
	}
}

// realResult is how a program ended, and the files that it made or changed.
type realResult struct {
	outcome
	changed map[string][]byte
}

func (r realResult) failed() bool { return r.code != 0 }

// missing is what controller-gen said about modules or packages that are not there, which says nothing about the
// generators.
func (r realResult) missing() string {
	for line := range strings.Lines(r.output) {
		for _, sign := range []string{"not available", "replacement directory", "no required module", "cannot find module", "build constraints exclude all", "403 Forbidden", "module lookup disabled", "dial tcp"} {
			if strings.Contains(line, sign) {
				return line
			}
		}
	}
	return ""
}

// generated runs a command in dir and returns what it wrote to out, which it
// empties; failure is what it said when it failed.
func generated(t *testing.T, cmd *exec.Cmd, dir, out string) (files map[string][]byte, failure string) {
	t.Helper()
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
	told, err := cmd.CombinedOutput()
	if err != nil {
		return nil, strings.TrimSpace(string(told))
	}
	files = readTree(t, out)
	if err := os.RemoveAll(out); err != nil {
		t.Fatal(err)
	}
	return files, ""
}

// differingFiles are the names of files that are not the same in both.
func differingFiles(ours, peers map[string][]byte) []string {
	var names []string
	for name, content := range peers {
		if got, found := ours[name]; !found || string(withoutVersion(got)) != string(withoutVersion(content)) {
			names = append(names, name)
		}
	}
	for name := range ours {
		if _, found := peers[name]; !found {
			names = append(names, name)
		}
	}
	return names
}
