package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/bench/fetch"
)

var realFlag = flag.Bool("real", false, "compare on the longer list of real projects")

// realAPI is an API that people use.
type realAPI struct {
	module   string // with its version
	patterns []string
	options  string // of the crd generator
	longer   bool   // on the longer list only
}

var realAPIs = []realAPI{
	{module: "github.com/fluxcd/source-controller/api@v1.6.2", patterns: []string{"./..."}},
	{module: "sigs.k8s.io/karpenter@v1.8.0", patterns: []string{"./pkg/apis/..."}},
	{module: "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring@v0.95.1", patterns: []string{"./..."}, longer: true},
	{module: "github.com/cert-manager/cert-manager@v1.21.2", patterns: []string{"./pkg/apis/..."}, longer: true},
	{module: "github.com/kedacore/keda/v2@v2.21.0", patterns: []string{"./apis/..."}, longer: true},
	{module: "sigs.k8s.io/gateway-api@v1.4.0", patterns: []string{"./apis/..."}, longer: true},
	{module: "github.com/crossplane/crossplane/v2@v2.0.2", patterns: []string{"./apis/..."}, longer: true},
	{module: "github.com/argoproj/argo-cd/v2@v2.14.21", patterns: []string{"./pkg/apis/..."}, longer: true},
	{module: "github.com/vmware-tanzu/velero@v1.17.0", patterns: []string{"./pkg/apis/..."}, options: ":allowDangerousTypes=true", longer: true},
	{module: "github.com/cloudnative-pg/cloudnative-pg@v1.27.0", patterns: []string{"./api/..."}, longer: true},
	{module: "github.com/tektoncd/pipeline@v1.6.0", patterns: []string{"./pkg/apis/..."}, longer: true},
}

// TestRealAPIs generates the definitions of real projects, in place on a copy,
// with both programs. Projects that cannot be had, or that controller-gen itself
// cannot read here, are skipped.
func TestRealAPIs(t *testing.T) {
	programs, err := buildBoth(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, api := range realAPIs {
		t.Run(api.module, func(t *testing.T) {
			if api.longer && !*realFlag {
				t.Skip("on the longer list: make test-real")
			}
			api.compare(t, programs)
		})
	}
}

func (api realAPI) compare(t *testing.T, programs programs) {
	t.Helper()
	dir := api.fetch(t)
	out := filepath.Join(dir, "definitions")
	peer := exec.CommandContext(t.Context(), programs.peer, api.arguments(out)...)
	peers, failure := generated(t, peer, dir, out)
	if failure != "" {
		t.Skipf("controller-gen cannot read it here:\n%s", failure)
	}
	if len(peers) == 0 {
		t.Fatal("controller-gen wrote nothing")
	}
	slipway := exec.CommandContext(t.Context(), programs.slipway, append([]string{"controller-gen"}, api.arguments(out)...)...)
	ours, failure := generated(t, slipway, dir, out)
	if failure != "" {
		t.Fatalf("controller-gen succeeds, we do not:\n%s", failure)
	}
	api.compareFiles(t, programs, dir, ours, peers)
}

// compareFiles asks controller-gen again for as long as a file differs: its order
// is chance at times.
func (api realAPI) compareFiles(t *testing.T, programs programs, dir string, ours, peers map[string][]byte) {
	t.Helper()
	differing := differingFiles(ours, peers)
	for range variants {
		if len(differing) == 0 {
			return
		}
		out := t.TempDir()
		again, _ := generated(t, exec.CommandContext(t.Context(), programs.peer, api.arguments(out)...), dir, out)
		still := make(map[string]bool)
		for _, name := range differingFiles(ours, again) {
			still[name] = true
		}
		left := differing[:0]
		for _, name := range differing {
			if still[name] {
				left = append(left, name)
			}
		}
		differing = left
	}
	for _, name := range differing {
		t.Errorf("%s is not what controller-gen writes in any of %d runs", name, variants+1)
	}
}

func (api realAPI) arguments(out string) []string {
	args := []string{"crd" + api.options, "output:dir=" + out}
	for _, p := range api.patterns {
		args = append(args, "paths="+p)
	}
	return args
}

// fetch copies the module to a folder that can be written to.
func (api realAPI) fetch(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "module")
	err := fetch.Module(t.Context(), api.module, dir)
	if errors.Is(err, fetch.ErrNotAvailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
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
