package plain

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/kubernetes/pkg/volume/util/subpath"

	"github.com/slipway-dev/slipway/cluster/realnode/cri"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

func put(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestMountsAreRemembered, and nothing is mounted.
func TestMountsAreRemembered(t *testing.T) {
	m := NewMounts()
	dir := t.TempDir()
	for _, mount := range []func() error{
		func() error { return m.Mount("tmpfs", dir, "tmpfs", nil) },
		func() error { return m.MountSensitive("tmpfs", dir+"/a", "tmpfs", nil, nil) },
		func() error { return m.MountSensitiveWithoutSystemd("tmpfs", dir+"/b", "tmpfs", nil, nil) },
		func() error {
			return m.MountSensitiveWithoutSystemdWithMountFlags("tmpfs", dir+"/c", "tmpfs", nil, nil, nil)
		},
	} {
		if err := mount(); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := m.List(); err != nil || len(all) != 4 {
		t.Errorf("%v, %v", all, err)
	}
	if is, err := m.IsMountPoint(dir); !is || err != nil {
		t.Errorf("%v, %v", is, err)
	}
	if not, err := m.IsLikelyNotMountPoint(filepath.Join(dir, "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what does not exist: %v, %v", not, err)
	}
	if err := m.Unmount(dir); err != nil {
		t.Fatal(err)
	}
	if not, err := m.IsLikelyNotMountPoint(dir); !not || err != nil {
		t.Errorf("after that: %v, %v", not, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestSubpathsStayInTheirVolume, whatever links a pod has put there.
func TestSubpathsStayInTheirVolume(t *testing.T) {
	volume := t.TempDir()
	put(t, filepath.Join(volume, "in", "file"), "", 0o600)
	outside := t.TempDir()
	for link, to := range map[string]string{"out": outside, "up": "..", "back": "in", "beside": volume + "-other"} {
		if err := os.Symlink(to, filepath.Join(volume, link)); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(volume+"-other", "file"), "", 0o600)
	for path, fine := range map[string]bool{
		"": true, "in": true, "in/file": true, "back/file": true, "out": false, "up": false, "beside": false, "absent": false,
	} {
		at, clean, err := Subpaths{}.PrepareSafeSubpath(subpath.Subpath{VolumePath: volume, Path: filepath.Join(volume, path)})
		if (err == nil) != fine {
			t.Errorf("%q is %s, %v", path, at, err)
		}
		if err == nil {
			clean()
		}
	}
	make := func(path string) error { return Subpaths{}.SafeMakeDir(filepath.Join(volume, path), volume, 0o750) }
	if err := make("in/new/deep"); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(filepath.Join(volume, "in/new/deep")); err != nil || !info.IsDir() {
		t.Errorf("%v, %v", info, err)
	}
	if err := make("out/new"); err == nil {
		t.Error("a folder is made outside of the volume")
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 0 {
		t.Errorf("outside: %v, %v", entries, err)
	}
}

// TestHost: what the kubelet asks about paths.
func TestHost(t *testing.T) {
	h := NewHost()
	file := put(t, filepath.Join(t.TempDir(), "file"), "", 0o640)
	if there, err := h.PathExists(file); !there || err != nil {
		t.Errorf("%v, %v", there, err)
	}
	if there, err := h.PathExists(file + "-absent"); there || err != nil {
		t.Errorf("%v, %v", there, err)
	}
	if _, err := h.PathExists(filepath.Join(file, "below")); err == nil {
		t.Error("below a file there is something, or nothing is wrong")
	}
	if mode, err := h.GetMode(file); mode != 0o640 || err != nil {
		t.Errorf("%v, %v", mode, err)
	}
	if _, err := h.GetMode(file + "-absent"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := h.MakeRShared("/"); err != nil {
		t.Error(err)
	}
}

// TestLinksToLogsAreNotTouched: they may be another kubelet's.
func TestLinksToLogsAreNotTouched(t *testing.T) {
	var f Files
	dir := t.TempDir()
	if err := f.Symlink("/a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "link")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a link is made: %v", err)
	}
	file := put(t, filepath.Join(dir, "file"), "", 0o600)
	if found, err := f.Glob(filepath.Join(dir, "*")); err != nil || !slices.Equal(found, []string{file}) {
		t.Errorf("%q, %v", found, err)
	}
	if found, err := f.Glob(filepath.Join(linksFolder, "*")); err != nil || found != nil {
		t.Errorf("%q, %v", found, err)
	}
	if err := f.Remove(filepath.Join(linksFolder, "none")); err != nil {
		t.Errorf("one that does not exist: %v", err)
	}
	if err := f.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Error("another file is left")
	}
}

// TestEnvironment: a container finds the API server on the loopback and its account in a kubeconfig for it alone,
// unless it has one of its own.
func TestEnvironment(t *testing.T) {
	dir, account := t.TempDir(), t.TempDir()
	put(t, filepath.Join(account, "namespace"), "team\n", 0o600)
	s := New(Options{Server: "127.0.0.1:6443"})
	p := paths{root: filepath.Join(dir, rootFolder), mounts: []wire.Mount{{Source: account, Target: accountFolder}}}
	env, err := s.environment(cri.Container{Dir: dir, Env: []string{"KUBERNETES_SERVICE_HOST=10.0.0.1", "TOKEN=" + accountFolder + "/token"}}, p)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	for name, want := range map[string]string{
		"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "6443", "KUBERNETES_SERVICE_PORT_HTTPS": "6443",
		"TOKEN": filepath.Join(account, "token"), "TMPDIR": filepath.Join(dir, tempFolder), "KUBECONFIG": kubeconfig, "ABSENT": "",
	} {
		if got := variable(env, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	text, err := os.ReadFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Clusters []struct {
			Cluster struct {
				Server    string
				Authority string `json:"certificate-authority"`
			}
		}
		Users    []struct{ User struct{ TokenFile string } }
		Contexts []struct{ Context struct{ Namespace string } }
	}
	if err := json.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	if config.Clusters[0].Cluster.Server != "https://127.0.0.1:6443" || config.Clusters[0].Cluster.Authority != filepath.Join(account, "ca.crt") ||
		config.Users[0].User.TokenFile != filepath.Join(account, "token") || config.Contexts[0].Context.Namespace != "team" {
		t.Errorf("%s", text)
	}
	if info, err := os.Stat(kubeconfig); err != nil || info.Mode().Perm() != keyMode {
		t.Errorf("%v, %v", info, err)
	}
	own := paths{root: p.root, mounts: append(p.mounts, wire.Mount{Source: "/volume", Target: "/tmp"})}
	env, err = s.environment(cri.Container{Dir: t.TempDir(), Env: []string{"KUBECONFIG=own"}}, own)
	if err != nil || variable(env, "KUBECONFIG") != "own" || variable(env, "TMPDIR") != "/volume" {
		t.Errorf("%q, %v", env, err)
	}
	if _, err := New(Options{Server: "nowhere"}).environment(cri.Container{}, paths{}); err == nil {
		t.Error("a server without a port")
	}
	p.mounts[0].Source = t.TempDir()
	if _, err := s.environment(cri.Container{Dir: dir}, p); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an account without a namespace: %v", err)
	}
}

// TestProgram: programs are the image's and the volumes', as a shell would find them, and never this machine's.
func TestProgram(t *testing.T) {
	root, volume := t.TempDir(), t.TempDir()
	put(t, filepath.Join(root, "bin", "tool"), "", 0o755)
	put(t, filepath.Join(root, "app", "own"), "", 0o755)
	put(t, filepath.Join(volume, "mounted"), "", 0o755)
	w := &workload{paths: paths{root: root, mounts: []wire.Mount{{Source: volume, Target: "/vol"}}}, search: "/usr/bin:/bin", dir: "/app"}
	for name, want := range map[string]string{
		"tool": filepath.Join(root, "bin/tool"), "/bin/tool": filepath.Join(root, "bin/tool"), "./own": filepath.Join(root, "app/own"),
		"../bin/tool": filepath.Join(root, "bin/tool"), "/vol/mounted": filepath.Join(volume, "mounted"),
		"sh": "", "/bin/sh": "", "own": "", "/app": "", "../../../../bin/sh": "",
	} {
		got, err := w.program(name)
		if got != want || (err != nil) != (want == "") || err != nil && !errors.Is(err, exec.ErrNotFound) {
			t.Errorf("%s is %s (%v), want %q", name, got, err, want)
		}
	}
}

// TestPrepare: the image is copied into the container's folder, and what cannot be a plain process is refused with the
// reason.
func TestPrepare(t *testing.T) {
	image := t.TempDir()
	put(t, filepath.Join(image, "bin", "tool"), "program", 0o755)
	s := New(Options{Server: "127.0.0.1:6443"})
	container := func() cri.Container {
		c := cri.Container{Dir: t.TempDir(), Args: []string{"tool", "--leader-elect"}, Env: []string{"PATH=/bin"}, WorkDir: "/work", Config: &runtimeapi.ContainerConfig{}}
		c.Image.Root, c.Image.Platform = image, runtime.GOOS+"/"+runtime.GOARCH
		return c
	}
	c := container()
	prepared, err := s.Prepare(c)
	if err != nil {
		t.Fatal(err)
	}
	w := prepared.(*workload)
	if w.first.Program != filepath.Join(c.Dir, rootFolder, "bin/tool") || !slices.Equal(w.first.Args, []string{"tool", "--leader-elect=false"}) {
		t.Errorf("%+v", w.first)
	}
	if info, err := os.Stat(w.first.Dir); err != nil || !info.IsDir() || !strings.HasPrefix(w.first.Dir, c.Dir) {
		t.Errorf("it works in %s, %v", w.first.Dir, err)
	}
	privileged := container()
	privileged.Config.Linux = &runtimeapi.LinuxContainerConfig{SecurityContext: &runtimeapi.LinuxContainerSecurityContext{Privileged: true}}
	foreign := container()
	foreign.Image.Platform = "plan9/386"
	for want, c := range map[string]cri.Container{"privileged": privileged, "plan9/386": foreign} {
		if _, err := s.Prepare(c); !errors.Is(err, cri.ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	absent := container()
	absent.Args = []string{"no-such-tool"}
	if _, err := s.Prepare(absent); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("a program that the image has not: %v", err)
	}
}

// TestTheLongestMountCounts, in whatever order they come.
func TestTheLongestMountCounts(t *testing.T) {
	deep, shallow := wire.Mount{Source: "/deep", Target: "/etc/config/deep"}, wire.Mount{Source: "/shallow", Target: "/etc/config"}
	for _, mounts := range [][]wire.Mount{{deep, shallow}, {shallow, deep}} {
		p := paths{root: t.TempDir(), mounts: mounts}
		if got := p.of("/etc/config/deep/a"); got != "/deep/a" {
			t.Errorf("%v: %s", mounts, got)
		}
	}
}
