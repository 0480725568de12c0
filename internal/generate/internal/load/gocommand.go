package load

import (
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/mod/modfile"

	"github.com/slipway-dev/slipway/internal/finite"
)

// goOutput runs the go command for the modules and returns what it prints. In a workspace the command adds checksums to
// go.work.sum, whatever it is asked, so it gets a copy of the workspace's files there.
func (m *modules) goOutput(args ...string) ([]byte, error) {
	cmd := exec.CommandContext(m.loader.config.Context, "go", args...)
	cmd.Dir = m.root
	if len(m.mains) > 0 {
		cmd.Dir = m.mains[0].dir
	}
	if m.work != "" && m.vendor == "" {
		copied, err := copyWorkspace(m.work)
		if err != nil {
			return nil, err
		}
		defer func() { _ = os.RemoveAll(copied) }()
		cmd.Env = append(os.Environ(), "GOWORK="+filepath.Join(copied, "go.work"))
	}
	return cmd.Output()
}

// copyWorkspace copies a go.work and its go.work.sum into a new folder, from where its paths lead to the same places.
func copyWorkspace(work string) (dir string, err error) {
	data, err := finite.ReadFile(work)
	if err != nil {
		return "", err
	}
	file, err := modfile.ParseWork(work, data, nil)
	if err == nil {
		err = makeAbsolute(file, filepath.Dir(work))
	}
	if err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp("", "slipway-workspace-*"); err != nil {
		return "", err
	}
	err = os.WriteFile(filepath.Join(dir, "go.work"), modfile.Format(file.Syntax), 0o600)
	if sums, absent := finite.ReadFile(work + ".sum"); absent == nil && err == nil {
		err = os.WriteFile(filepath.Join(dir, "go.work.sum"), sums, 0o600)
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return "", err
	}
	return dir, nil
}

func makeAbsolute(file *modfile.WorkFile, dir string) error {
	absolute := func(path string) string {
		if path = filepath.FromSlash(path); filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(dir, path)
	}
	for _, use := range append([]*modfile.Use(nil), file.Use...) {
		if filepath.IsAbs(filepath.FromSlash(use.Path)) {
			continue
		}
		path, module := use.Path, use.ModulePath
		if err := file.DropUse(path); err != nil {
			return err
		}
		if err := file.AddUse(filepath.ToSlash(absolute(path)), module); err != nil {
			return err
		}
	}
	for _, r := range append([]*modfile.Replace(nil), file.Replace...) {
		if r.New.Version != "" {
			continue
		}
		if err := file.AddReplace(r.Old.Path, r.Old.Version, filepath.ToSlash(absolute(r.New.Path)), ""); err != nil {
			return err
		}
	}
	file.Cleanup()
	return nil
}
