package load

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/slipway-dev/slipway/internal/finite"
)

// goOutput runs a command of the go command, such as list, for the modules and returns what it prints. It may write to
// the files that it works with, with -mod=mod to go.mod and go.sum and in a workspace always to go.work.sum, so it gets
// copies of them.
func (m *modules) goOutput(command string, args ...string) ([]byte, error) {
	env := os.Environ()
	if m.vendor == "" {
		copied, err := m.copyFiles()
		if err != nil {
			return nil, err
		}
		defer func() { _ = os.RemoveAll(copied) }()
		if m.work != "" {
			env = append(env, "GOWORK="+filepath.Join(copied, "go.work"))
		} else {
			args = append([]string{"-modfile=" + filepath.Join(copied, "go.mod")}, args...)
		}
	}
	cmd := exec.CommandContext(m.loader.config.Context, "go", append([]string{command}, args...)...)
	cmd.Env, cmd.Dir = env, m.root
	if len(m.mains) > 0 {
		cmd.Dir = m.mains[0].dir
	}
	return cmd.Output()
}

// copyFiles copies what the go command may write to into a new folder.
func (m *modules) copyFiles() (dir string, err error) {
	if m.work != "" {
		return copyWorkspace(m.work)
	}
	file := m.loader.modFileOf(m.root)
	data, err := finite.ReadFile(file)
	if err != nil {
		return "", err
	}
	return copied("go.mod", data, strings.TrimSuffix(file, ".mod")+".sum", "go.sum")
}

// copied is a new folder with a file and, where there are any, its sums.
func copied(name string, data []byte, sumsFrom, sumsTo string) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "slipway-modules-*"); err != nil {
		return "", err
	}
	err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
	if sums, absent := finite.ReadFile(sumsFrom); absent == nil && err == nil {
		err = os.WriteFile(filepath.Join(dir, sumsTo), sums, 0o600)
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return "", err
	}
	return dir, nil
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
	return copied("go.work", modfile.Format(file.Syntax), work+".sum", "go.work.sum")
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
