package version_test

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	component "k8s.io/component-base/version"

	"github.com/slipway-dev/slipway/cluster/version"
)

func TestStampMakesComponentsReportTheVersion(t *testing.T) {
	if err := version.Stamp(); err != nil {
		t.Fatal(err)
	}
	if got, want := component.Get().GitVersion, "v"+version.Kubernetes; got != want {
		t.Errorf("components report %s, want %s", got, want)
	}
}

// Mixed staging versions compile rarely and behave wrongly when they do.
func TestModuleFileAgrees(t *testing.T) {
	data, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		t.Fatal(err)
	}
	staging := "v0" + strings.TrimPrefix(version.Kubernetes, "1")
	seen := false
	for _, r := range file.Require {
		switch path, v := r.Mod.Path, r.Mod.Version; {
		case path == "k8s.io/kubernetes":
			seen = true
			if v != "v"+version.Kubernetes {
				t.Errorf("go.mod requires k8s.io/kubernetes %s, the package says %s", v, version.Kubernetes)
			}
		case strings.HasPrefix(path, "k8s.io/") && strings.HasPrefix(v, "v0.") && !strings.HasPrefix(v, "v0.0."):
			if v != staging {
				t.Errorf("go.mod requires %s %s, want %s", path, v, staging)
			}
		}
	}
	if !seen {
		t.Error("go.mod does not require k8s.io/kubernetes")
	}
	if len(file.Replace) != 0 || len(file.Exclude) != 0 {
		t.Error("go.mod has replace or exclude directives, which break `go install …@version`")
	}
}
