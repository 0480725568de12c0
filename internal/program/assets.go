package program

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/slipway-dev/slipway/internal/userdirs"
)

// Assets returns a folder in the cache in which the programs have the names of the stock programs that envtest starts.
// As long as kubectl is not compiled, slipway itself has its name, and compiles it when it is called: few suites do.
func (f *Finder) Assets(ctx context.Context) (dir string, err error) {
	p, err := f.Ensure(ctx)
	if err != nil {
		return "", err
	}
	kubectl, ok, err := f.FindKubectl(ctx)
	if err == nil && !ok {
		kubectl, err = f.executable()
	}
	if err != nil {
		return "", err
	}
	root, err := userdirs.Cache(f.Getenv)
	if err != nil {
		return "", err
	}
	id, err := identity(p.Path, kubectl)
	if err != nil {
		return "", err
	}
	dir = filepath.Join(root, "assets", id)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", unusable(err)
	}
	for asset, path := range map[string]string{"etcd": p.Path, "kube-apiserver": p.Path, "kubectl": kubectl} {
		if err := link(path, filepath.Join(dir, fileName(asset))); err != nil {
			return "", unusable(err)
		}
	}
	return dir, nil
}

// identity names programs at paths: as long as links serve, the path of the first does, and the links follow the
// others; copies also depend on the files' states.
func identity(paths ...string) (string, error) {
	id := paths[0]
	if runtime.GOOS == "windows" {
		for _, path := range paths {
			info, err := os.Stat(path)
			if err != nil {
				return "", err
			}
			id += fmt.Sprint(info.Size(), info.ModTime().UnixNano())
		}
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:8]), nil
}

// link makes another name for the program at path, unless it is there.
func link(path, asset string) error {
	if target, err := os.Readlink(asset); err == nil && target == path {
		return nil
	}
	if runtime.GOOS == "windows" {
		return copyOnce(path, asset)
	}
	temp, err := os.MkdirTemp(filepath.Dir(asset), ".link-")
	if err != nil {
		return err
	}
	made := filepath.Join(temp, filepath.Base(asset))
	defer func() {
		_ = os.Remove(made) // fails once it has its name
		_ = os.Remove(temp)
	}()
	if err := os.Symlink(path, made); err != nil {
		return err
	}
	return os.Rename(made, asset) // at once: a suite may be about to start it
}

// copyOnce copies the program where links need a privilege.
func copyOnce(path, asset string) error {
	if isFile(asset) {
		return nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	temp := fmt.Sprintf("%s.%d", asset, os.Getpid())
	if err := os.WriteFile(temp, content, 0o755); err != nil {
		return err
	}
	return os.Rename(temp, asset)
}
