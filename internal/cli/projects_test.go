package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestProjects deploys operators that others wrote, as they come from the module proxy, into real pods, and waits until
// a sample of each is reconciled. Compiling them from nothing takes the longest.
func TestProjects(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-projects")
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "projects"), RequireExplicitExec: true, RequireUniqueNames: true, Setup: scriptEnv, Condition: projectsCondition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"registry": startRegistry, "readenv": readEnv, "module": module, "standin": standin},
	})
}

// projectsCondition decides one more condition: debian is true where apt knows Debian's packages.
func projectsCondition(what string) (bool, error) {
	if what == "debian" {
		return debian(), nil
	}
	return condition(what)
}

var debian = sync.OnceValue(func() bool { return exec.Command("apt-get", "download", "--print-uris", "busybox-static").Run() == nil })

// module is the script command `module PATH@VERSION DIR`: a module's files in a repository of its own, as its author
// has them.
func module(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: module PATH@VERSION DIR")
	}
	cmd := exec.Command("go", "mod", "download", "-json", args[0])
	cmd.Dir = ts.Getenv("WORK") // in no module
	out, err := cmd.Output()
	if err != nil {
		ts.Fatalf("download %s: %v\n%s", args[0], err, out)
	}
	var downloaded struct{ Dir string }
	ts.Check(json.Unmarshal(out, &downloaded))
	dir := ts.MkAbs(args[1])
	ts.Check(os.CopyFS(dir, os.DirFS(downloaded.Dir)))
	ts.Check(filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(path, 0o755) // the cache's files are for reading alone
	}))
	for _, command := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "begin"}} {
		ts.Check(ts.Exec("git", append([]string{"-C", dir}, command...)...))
	}
}

// standin is the script command `standin REF DIR`: an image with a folder's files, in its registry.
func standin(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: standin REF DIR")
	}
	ref, err := name.ParseReference(args[0])
	ts.Check(err)
	archive := ts.MkAbs("standin.tar")
	ts.Check(ts.Exec("tar", "-C", ts.MkAbs(args[1]), "--owner=0", "--group=0", "-cf", archive, "."))
	layer, err := tarball.LayerFromFile(archive)
	ts.Check(err)
	img, err := mutate.AppendLayers(empty.Image, layer)
	ts.Check(err)
	img, err = mutate.ConfigFile(img, platformed(ts, img))
	ts.Check(err)
	ts.Check(remote.Write(ref, img))
}

// platformed is the configuration of an image for this machine's processor.
func platformed(ts *testscript.TestScript, img v1.Image) *v1.ConfigFile {
	file, err := img.ConfigFile()
	ts.Check(err)
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", runtime.GOARCH
	return file
}
