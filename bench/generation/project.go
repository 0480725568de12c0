package generation

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/bench/build"
)

// CronJob is the folder of the example that the documents build, made with our own tool.
func CronJob(ctx context.Context) (string, error) {
	root, err := build.Root(ctx)
	return filepath.Join(root, "examples", "cronjob"), err
}

// Copy copies a project without what tools have put into it.
func Copy(from, to string) error {
	if _, err := os.Stat(filepath.Join(from, "PROJECT")); err != nil {
		return fmt.Errorf("copy project: %w", err)
	}
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if entry.Name() == ".git" || entry.Name() == "bin" {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), data, 0o644)
	})
}

// RemoveGenerated deletes every file that the generators write.
func RemoveGenerated(project string) error {
	files, err := Generated(project)
	for _, f := range files {
		if err := os.Remove(filepath.Join(project, f)); err != nil {
			return err
		}
	}
	return err
}

// Generated lists the files that the generators write, relative to the project.
func Generated(project string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(project, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(project, path)
		if isGenerated(filepath.ToSlash(name)) {
			files = append(files, name)
		}
		return err
	})
	return files, err
}

func isGenerated(name string) bool {
	return strings.HasPrefix(filepath.Base(name), "zz_generated.") ||
		strings.HasPrefix(name, "config/crd/bases/") || name == "config/rbac/role.yaml"
}
