package deploy

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/slipway-dev/slipway/bench/assets"
	"github.com/slipway-dev/slipway/bench/build"
)

// user is somebody with a project and a kubeconfig of another cluster.
type user struct {
	slipway, project string
	env              []string
}

// TestStockCluster goes through all that works without anybody who runs pods, and through how the rest is explained.
func TestStockCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-peers")
	}
	u := newUser(t)
	for _, test := range []struct {
		command string
		fails   bool
		want    []string
	}{
		{"install", false, []string{"created    crd/boats.ship.example.com", "1 definition established"}},
		{"install", false, []string{"unchanged  crd/boats.ship.example.com"}},
		{"deploy --image localhost:5001/op:v1 --dry-run", false, []string{"create", "deployment/op-system/op-controller-manager"}},
		{"deploy --image localhost:5001/op:v1 --timeout 3s", true, []string{
			"warning: localhost:5001/op:v1 names a registry on this machine",
			"not ready within 3s", "where: deployment/op-system/op-controller-manager", "no controller has seen it",
		}},
		{"deploy --image example.com/op:v1 --wait=false", false, []string{"updated    deployment/op-system/op-controller-manager"}},
		{"undeploy --timeout 15s", true, []string{"deleted    crd/boats.ship.example.com", "where: namespace/op-system", "removes no namespaces"}},
	} {
		t.Run(test.command, func(t *testing.T) {
			said, err := u.run(t, strings.Fields(test.command)...)
			if (err != nil) != test.fails {
				t.Errorf("%v", err)
			}
			for _, want := range test.want {
				if !strings.Contains(said, want) {
					t.Errorf("it does not say %q:\n%s", want, said)
				}
			}
			if test.fails && strings.Contains(said, "slipway cluster") {
				t.Errorf("it speaks of slipway's own clusters:\n%s", said)
			}
		})
	}
}

// newUser starts the stock programs, and makes a project with a kind.
func newUser(t *testing.T) user {
	t.Helper()
	dir := t.TempDir()
	slipway, err := build.Slipway(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	u := user{slipway: slipway, project: filepath.Join(dir, "op"), env: []string{
		"KUBECONFIG=" + stockKubeconfig(t, dir), "SLIPWAY_STATE=" + filepath.Join(dir, "state"), "SLIPWAY_CHECK=off"}}
	if err := os.Mkdir(u.project, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"init --domain example.com --repo example.com/op --project-name op --fetch-deps=false",
		"create api --group ship --version v1 --kind Boat --resource --controller --make=false",
		"generate",
	} {
		if said, err := u.run(t, strings.Fields(line)...); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, said)
		}
	}
	return u
}

// stockKubeconfig is the file of an administrator of a stock control plane, which runs until the test ends.
func stockKubeconfig(t *testing.T, dir string) string {
	t.Helper()
	programs, err := assets.Stock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	log.SetLogger(logr.Discard())
	e := &envtest.Environment{UseExistingCluster: new(bool)}
	e.ControlPlane.GetAPIServer().Path = filepath.Join(programs, "kube-apiserver")
	e.ControlPlane.Etcd = &envtest.Etcd{Path: filepath.Join(programs, "etcd")}
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	if _, err := e.Start(); err != nil {
		t.Fatal(err)
	}
	admin, err := e.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := admin.KubeConfig()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "theirs")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// run runs slipway in the project, and returns all that it says.
func (u user) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), u.slipway, args...)
	cmd.Dir, cmd.Env = u.project, append(os.Environ(), u.env...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	return said.String(), err
}
