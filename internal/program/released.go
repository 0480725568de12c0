package program

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/download"
	"github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// DownloadsDir is the folder of archives on their way, in the cache.
const DownloadsDir = "downloads"

// downloaded fills a slot from the archive of slipway's release. Ok is false when there is none for it, when the user
// wants none, and after a warning when it cannot be had: the programs are compiled then.
func (f *Finder) downloaded(ctx context.Context, s slot, src source) (ok bool, err error) {
	if !src.hasArchive(s.product) {
		return false, nil
	}
	from, err := download.Open(f.Getenv, f.stamp, f.Handler)
	switch {
	case errors.Is(err, download.ErrOff), errors.Is(err, release.ErrNoKey):
		return false, nil
	case err != nil:
		return false, err
	}
	root, err := userdirs.Cache(f.Getenv)
	if err != nil {
		return false, err
	}
	dir := filepath.Join(root, DownloadsDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, unusable(err)
	}
	unlock, err := hold(ctx, f.Handler, filepath.Join(dir, downloadLock(src.version)), "downloads slipway "+src.version, s.complete)
	if err != nil {
		return false, err
	}
	defer unlock()
	if f.filled(s) {
		return true, nil // by the one that was waited for
	}
	forgetParts(dir)
	if err := f.fromArchive(ctx, from, s, src, dir); err != nil {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		f.compileInstead(s, err)
		return false, nil
	}
	return true, nil
}

// forgetParts removes unfinished downloads that no command has continued for long, such as those of versions that are
// not used any more. What another command is downloading stays, and so does what cannot be removed.
func forgetParts(dir string) {
	entries, _ := os.ReadDir(dir) // without it there is nothing to remove
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		lock := filepath.Join(dir, DownloadLock(e.Name()))
		if info, err := e.Info(); err != nil || !strings.HasPrefix(e.Name(), "slipway_") || time.Since(info.ModTime()) <= forgotten || !isFile(lock) {
			continue
		}
		_, _ = discard(path, lock, false)
	}
}

// downloadLock is the name of the file that a command holds while it downloads a version.
func downloadLock(version string) string { return version + ".lock" }

// DownloadLock is the name of the file in [DownloadsDir] that a command holds while it makes an entry there.
func DownloadLock(entry string) string {
	version, _, _ := strings.Cut(strings.TrimPrefix(entry, "slipway_"), "_")
	return downloadLock(version)
}

// compileInstead warns of a download that failed.
func (f *Finder) compileInstead(s slot, err error) {
	why := err.Error()
	if e, ok := errors.AsType[*report.Error](err); ok && e.Err != nil {
		why = e.What + ": " + e.Where + ": " + e.Err.Error()
	}
	f.Handler.Handle(report.Warning{Text: why + "; " + s.what + " is compiled instead (" + download.Variable + "=" + download.Off + " skips the download)"})
}

// hasArchive reports whether releases have the product, as far as is known without asking.
func (src source) hasArchive(p *product) bool {
	return src.dir == "" && p.pin == "" && release.IsVersion(src.version) && release.Has(runtime.GOOS, runtime.GOARCH) &&
		slices.ContainsFunc(releasedProducts(runtime.GOOS), func(q *product) bool { return q.last() == p.last() })
}

// fromArchive downloads the archive into dir, and fills with it the slot and those of the other programs.
func (f *Finder) fromArchive(ctx context.Context, from *download.Source, s slot, src source, dir string) (err error) {
	begin := time.Now()
	archive, err := from.Archive(ctx, src.version, runtime.GOOS, runtime.GOARCH, dir)
	if err != nil {
		return err
	}
	f.Handler.Handle(report.Step{Name: "unpacking " + filepath.Base(archive)})
	folder := release.Folder(src.version, runtime.GOOS, runtime.GOARCH)
	temp := filepath.Join(dir, folder)
	defer func() { err = errors.Join(err, os.RemoveAll(temp), os.Remove(archive)) }()
	if err := f.unpack(archive, folder, temp); err != nil {
		return &report.Error{What: "the archive cannot be used", Where: archive, Err: err}
	}
	if err := s.accept(ctx, temp, src); err != nil {
		return err
	}
	for _, p := range releasedProducts(runtime.GOOS) {
		if err := f.supply(ctx, p, src, temp, p.last() == s.last()); err != nil {
			return err
		}
	}
	f.Handler.Handle(report.Step{Name: "downloaded the programs of slipway " + src.version, Elapsed: time.Since(begin)})
	return nil
}

// unpack writes the programs of an archive into a folder that is made for it.
func (f *Finder) unpack(archive, folder, temp string) error {
	if err := os.RemoveAll(temp); err != nil {
		return err
	}
	if err := os.Mkdir(temp, 0o700); err != nil {
		return err
	}
	var files []string
	for _, p := range releasedProducts(runtime.GOOS) {
		for _, program := range p.programs {
			files = append(files, fileName(program))
		}
	}
	return release.Unpack(archive, folder, temp, files)
}

// supply fills the slot of a product with unpacked programs. One that another command is filling is left to that
// command, unless this one needs it.
func (f *Finder) supply(ctx context.Context, p *product, src source, unpacked string, needed bool) error {
	s, err := f.slot(p, src)
	if err != nil {
		return err
	}
	if err := s.prepare(); err != nil {
		return err
	}
	if !needed && s.busy() {
		return nil
	}
	release, err := s.hold(ctx, f.Handler)
	if err != nil {
		return err
	}
	defer release()
	if s.complete() {
		return nil
	}
	if err := s.take(unpacked); err != nil {
		return unusable(err)
	}
	return s.prune()
}
