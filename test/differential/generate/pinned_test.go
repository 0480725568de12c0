package generate

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/slipway-dev/slipway/bench/build"
)

// pinnedProjects are projects whose own files are the golden ones: they were generated and committed by the version of
// controller-gen that the project uses, and nothing edits them afterwards. Others were tried: karpenter formats its
// CRDs with yq.
var pinnedProjects = []struct{ module, version string }{
	{"sigs.k8s.io/cluster-api@v1.7.9", "v0.14.0"},
	{"sigs.k8s.io/jobset@v0.5.2", "v0.14.0"},
	{"sigs.k8s.io/kueue@v0.6.3", "v0.14.0"},
	{"github.com/kubeflow/training-operator@v1.8.1", "v0.14.0"},
	{"github.com/kedacore/keda/v2@v2.14.1", "v0.14.0"},
	{"github.com/open-telemetry/opentelemetry-operator@v0.100.1", "v0.14.0"},
	{"github.com/ray-project/kuberay/ray-operator@v1.2.2", "v0.15.0"},
	{"sigs.k8s.io/lws@v0.7.0", "v0.16.2"},
	{"github.com/cloudnative-pg/cloudnative-pg@v1.23.6", "v0.16.5"},
	{"sigs.k8s.io/jobset@v0.10.1", "v0.17.2"},
	{"sigs.k8s.io/kueue@v0.14.0", "v0.18.0"},
	{"github.com/cloudnative-pg/cloudnative-pg@v1.27.0", "v0.18.0"},
	{"github.com/kedacore/keda/v2@v2.21.0", "v0.21.0"},
}

// compared matches the report that at least four files are the same.
var compared = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`nothing is stale: ([4-9]|\d\d) generated files`) })

// TestPinnedProjects: in projects that pin a version, slipway finds that version, and nothing that it would write
// differs from what the project has.
func TestPinnedProjects(t *testing.T) {
	if testing.Short() || !*realFlag {
		t.Skip("long: make test-long-real, since it downloads all that large projects require")
	}
	slipway, err := build.Slipway(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, project := range pinnedProjects {
		t.Run(project.module, func(t *testing.T) {
			dir := fetchModule(t, project.module)
			download := exec.CommandContext(t.Context(), "go", "mod", "download")
			download.Dir = dir
			if out, err := download.CombinedOutput(); err != nil {
				t.Skipf("its modules are not there: %v\n%.500s", err, out)
			}
			environment := append(os.Environ(), "SLIPWAY_CHECK=off", "XDG_CACHE_HOME="+filepath.Join(t.TempDir(), "cache"))
			o := executeIn(t.Context(), t, dir, environment, slipway, "generate", "--check", "-v")
			if o.code != 0 {
				t.Errorf("exit code %d:\n%.5000s", o.code, o.output)
			}
			if !compared().MatchString(o.output) {
				t.Errorf("few files were compared:\n%.2000s", o.output)
			}
			if !strings.Contains(o.output, "files of controller-gen "+project.version+":") {
				t.Errorf("it is not said that the files are those of %s:\n%.2000s", project.version, o.output)
			}
		})
	}
}
