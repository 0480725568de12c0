package certmanager

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// unpackLimit is for Debian's mirror, of which apt asks each address of each source.
const unpackLimit = 3 * time.Minute

// loadPrometheus makes an image of Debian's packages, and puts it into the cluster. Without Debian's packages the test
// is skipped.
func (c *cluster) loadPrometheus(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	root := filepath.Join(dir, "root")
	ctx, cancel := context.WithTimeout(t.Context(), unpackLimit)
	defer cancel()
	if err := unpackPackages(ctx, dir, root, "prometheus", "libc6"); err != nil {
		t.Skipf("no Prometheus: %v", err)
	}
	archive := filepath.Join(dir, "prometheus.tar")
	if err := writeImage(archive, prometheusImage, root, "usr/bin/prometheus", "usr/lib", "usr/lib64", "lib", "lib64"); err != nil {
		t.Fatal(err)
	}
	output(t, command(t, dir, c.env, c.slipway, "image", "load", archive))
}

// unpackPackages unpacks Debian's packages into a folder; nothing is installed. Apt's lists are fetched, to below dir,
// if the machine has none that still hold.
func unpackPackages(ctx context.Context, dir, root string, packages ...string) error {
	lists := []string{"-o", "Dir::State=" + filepath.Join(dir, "state"), "-o", "Dir::Cache=" + filepath.Join(dir, "cache")}
	if err := aptGet(ctx, dir, append([]string{"download"}, packages...)...); err != nil {
		for _, folder := range []string{"state/lists/partial", "cache/archives/partial"} {
			if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
				return err
			}
		}
		// One source of several that is not available is no failure: the packages may be in another one.
		updated := aptGet(ctx, dir, append(lists, "update")...)
		if err := aptGet(ctx, dir, append(append(lists, "download"), packages...)...); err != nil {
			return errors.Join(updated, err)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if out, err := exec.CommandContext(ctx, "dpkg-deb", "-x", file, root).CombinedOutput(); err != nil {
			return fmt.Errorf("unpack %s: %w: %s", filepath.Base(file), err, out)
		}
	}
	return mergeUsr(root)
}

// mergeUsr leads to where libraries are in later versions of Debian, as its package base-files does.
func mergeUsr(root string) error {
	for _, name := range []string{"lib", "lib64"} {
		err := os.Symlink(filepath.Join("usr", name), filepath.Join(root, name))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

func aptGet(ctx context.Context, dir string, args ...string) error {
	get := exec.CommandContext(ctx, "apt-get", append([]string{"-o", "Acquire::http::Timeout=20", "-o", "Acquire::https::Timeout=20"}, args...)...)
	get.Dir = dir
	if out, err := get.CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// writeImage writes an archive as `docker save` does, with an image of one layer: those of root's files and folders
// that are there.
func writeImage(archive, name, root string, paths ...string) error {
	layer := archive + ".layer"
	if err := writeFile(layer, func(out *tar.Writer) error {
		for _, path := range paths {
			if err := addTree(out, root, path); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	content, err := os.ReadFile(layer)
	if err != nil {
		return err
	}
	config, err := json.Marshal(map[string]any{
		"os": "linux", "architecture": runtime.GOARCH, "config": map[string]any{},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(content))}},
	})
	if err != nil {
		return err
	}
	manifest, err := json.Marshal([]any{map[string]any{"Config": "config.json", "RepoTags": []string{name}, "Layers": []string{"layer.tar"}}})
	if err != nil {
		return err
	}
	return writeFile(archive, func(out *tar.Writer) error {
		return errors.Join(addFile(out, "config.json", config), addFile(out, "manifest.json", manifest), addFile(out, "layer.tar", content))
	})
}

func writeFile(name string, write func(*tar.Writer) error) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	out := tar.NewWriter(file)
	return errors.Join(write(out), out.Close(), file.Close())
}

func addFile(out *tar.Writer, name string, content []byte) error {
	if err := out.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}); err != nil {
		return err
	}
	_, err := out.Write(content)
	return err
}

// addTree adds a file, or a folder with all that is in it. A package's files are root's, whoever unpacked them.
func addTree(out *tar.Writer, root, path string) error {
	return filepath.WalkDir(filepath.Join(root, path), func(file string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		link := ""
		if info.Mode()&fs.ModeSymlink != 0 {
			if link, err = os.Readlink(file); err != nil {
				return err
			}
		}
		header, err := tar.FileInfoHeader(info, link)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		header.Name, header.Uid, header.Gid, header.Uname, header.Gname = filepath.ToSlash(relative), 0, 0, "", ""
		if err := out.WriteHeader(header); err != nil || !info.Mode().IsRegular() {
			return err
		}
		content, err := os.Open(file)
		if err != nil {
			return err
		}
		defer func() { _ = content.Close() }()
		_, err = io.Copy(out, content)
		return err
	})
}
