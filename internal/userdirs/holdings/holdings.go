// Package holdings knows what slipway's cache holds, measures it, and removes what the user no longer wants:
//
//	for _, kind := range holdings.Kinds() {
//		use, err := kind.Measure(root)
//		removed, err := kind.Clean(root, holdings.Cleaning{Unused: 30 * 24 * time.Hour})
//	}
//
// A kind is a folder of the cache and the names that slipway gives to what is in it. Only those are counted or removed:
// the user may have made any folder the cache, and other files lie there then. Files in use stay: programs that run,
// output that another command is making, images that are being read. The key of interrupted changes is of no kind.
package holdings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/internal/program"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// Kind is one of the things that the cache holds.
type Kind struct {
	Name string // by which the user calls it
	What string // it is
	// Limit is how much of it is kept without the user's doing.
	Limit string

	folders []string       // below the cache
	entry   *regexp.Regexp // names of what is in them
	marked  *regexp.Regexp // names of those entries that are slipway's only with its mark; nil if there are none
	locks   []string       // files in the folder: it is in use while another command has one
	// inner are patterns of files in the folder that commands lock while they make something: all is in use then.
	inner []string
	// lock is the file in the folder that commands hold which make or use an entry: an entry without it is not
	// slipway's.
	lock func(entry string) string
	// runs: an entry is a folder of programs, in use while one of them runs, with a lock beside it.
	runs bool
}

// Kinds are all kinds, the large ones first.
func Kinds() []Kind {
	hex := func(digits int, suffix string) *regexp.Regexp {
		return regexp.MustCompile(fmt.Sprintf(`^[0-9a-f]{%d}%s$`, digits, regexp.QuoteMeta(suffix)))
	}
	return []Kind{
		{Name: "programs", What: "slipway-cluster and the other programs, compiled or downloaded", Limit: "the last eight of each program, at most 2 GiB of each, until 30 days after the last use",
			folders: []string{program.ProgramsDir}, entry: hex(32, ""), runs: true},
		{Name: "images", What: "images that were built or pulled, and compiled managers", Limit: "images without limit, until they are removed or built again; managers until 30 days after the last build",
			folders: []string{"images", filepath.Join("images", "programs")}, entry: regexp.MustCompile(`^(layout|layers|index\.json|work-.*|gone-.*|[0-9a-f]{32})$`),
			marked: regexp.MustCompile(`^(work-.*|gone-.*|[0-9a-f]{32})$`), locks: []string{"lock", "readers"},
			inner: []string{"work-*/.in-use", "programs/*/lock"}},
		{Name: "downloads", What: "archives of releases that were cut off", Limit: "until they are complete, or 30 days after the last part came",
			folders: []string{program.DownloadsDir}, entry: regexp.MustCompile(`^slipway_[^_]+_.*$`), lock: program.DownloadLock},
		{Name: "assets", What: "links that name the programs as envtest does", Limit: "no limit", folders: []string{"assets"}, entry: hex(16, ""), runs: true},
		{Name: "addons", What: "sources of add-ons for clusters", Limit: "no limit", folders: []string{"addons"}, entry: regexp.MustCompile(`^[a-z0-9-]+-[0-9a-f]{32}$`)},
		{Name: "definitions", What: "definitions of kinds of other modules", Limit: "the last 32, until 30 days after the last use", folders: []string{"definitions"}, entry: hex(64, ".yaml")},
		{Name: "runs", What: "records of runs of generate: files read and written", Limit: "the last 200", folders: []string{"runs", "runs-unchecked"}, entry: hex(64, "")},
		{Name: "answers", What: "answers of other programs", Limit: "until 30 days after the last use",
			folders: []string{"checked", "exports", "versions", filepath.Join("codegen", "answers")}, entry: regexp.MustCompile(`^[0-9a-f]{16,32}\.json$`)},
	}
}

// Use is how much there is of a kind.
type Use struct {
	Entries int
	Bytes   int64
	Last    time.Time // when something of it was made or used last; zero if there is nothing
}

func (u *Use) add(other Use) {
	u.Entries += other.Entries
	u.Bytes += other.Bytes
	if other.Last.After(u.Last) {
		u.Last = other.Last
	}
}

// Measure looks at what there is of a kind in the cache called root.
func (k Kind) Measure(root string) (Use, error) {
	var all Use
	paths, err := k.entries(root)
	if err != nil {
		return all, err
	}
	for _, path := range paths {
		use, err := measure(path)
		if err != nil {
			return all, err
		}
		all.add(use)
	}
	return all, nil
}

// entries are the paths of what there is of a kind.
func (k Kind) entries(root string) (paths []string, err error) {
	for _, folder := range k.folders {
		entries, err := os.ReadDir(filepath.Join(root, folder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			if path := filepath.Join(root, folder, e.Name()); k.entry.MatchString(e.Name()) && k.owns(path) {
				paths = append(paths, path)
			}
		}
	}
	return paths, nil
}

// owns reports whether slipway has made an entry of such a name, as far as a mark or a lock shows it.
func (k Kind) owns(path string) bool {
	if k.isMarked(path) {
		return userdirs.Marked(path)
	}
	if k.lock == nil {
		return true
	}
	_, err := os.Stat(k.lockOf(path))
	return err == nil
}

func (k Kind) isMarked(path string) bool {
	return k.marked != nil && k.marked.MatchString(filepath.Base(path))
}

func (k Kind) lockOf(path string) string {
	return filepath.Join(filepath.Dir(path), k.lock(filepath.Base(path)))
}

// measure adds up an entry. What another command removes meanwhile counts for nothing.
func measure(path string) (Use, error) {
	use := Use{Entries: 1}
	err := filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return gone(err)
		}
		info, err := d.Info()
		if err != nil {
			return gone(err)
		}
		if !d.IsDir() {
			use.add(Use{Bytes: info.Size(), Last: info.ModTime()})
		}
		return nil
	})
	return use, err
}

func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Cleaning is what the user wants to be removed.
type Cleaning struct {
	DryRun bool
	// Unused is how long something was not used; zero is all.
	Unused time.Duration
}

// Cleaned is what was removed, or would be, and the paths of what stays since it is in use.
type Cleaned struct {
	Use
	Busy []string
}

// Clean removes what there is of a kind in the cache called root.
func (k Kind) Clean(root string, c Cleaning) (Cleaned, error) {
	var cleaned Cleaned
	release, busy, err := k.hold(root)
	if err != nil || busy != "" {
		return Cleaned{Busy: slices.DeleteFunc([]string{busy}, func(s string) bool { return s == "" })}, err
	}
	defer release()
	paths, err := k.entries(root)
	for _, path := range paths {
		use, measured := measure(path)
		if err = errors.Join(err, measured); measured != nil || time.Since(use.Last) < c.Unused {
			continue
		}
		removed, why := k.remove(path, c.DryRun)
		err = errors.Join(err, why)
		switch {
		case removed:
			cleaned.add(use)
		case why == nil:
			cleaned.Busy = append(cleaned.Busy, path)
		}
	}
	return cleaned, err
}

// remove removes an entry that is not in use.
func (k Kind) remove(path string, dryRun bool) (removed bool, err error) {
	if k.runs {
		return program.Discard(path, dryRun)
	}
	if k.lock != nil {
		l := flock.New(k.lockOf(path))
		if free, err := l.TryLock(); !free || err != nil {
			return false, err
		}
		defer func() { _ = l.Unlock() }()
	}
	if dryRun {
		return true, nil
	}
	if k.isMarked(path) {
		err = userdirs.Remove(path)
	} else {
		err = os.RemoveAll(path)
	}
	return err == nil, err
}

// hold takes the locks of a kind; busy is the path of one that another command has.
func (k Kind) hold(root string) (release func(), busy string, err error) {
	var held []*flock.Flock
	release = func() {
		for _, l := range held {
			_ = l.Unlock()
		}
	}
	for _, name := range k.locks {
		path := filepath.Join(root, k.folders[0], name)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue // no command has ever been there
		}
		l := flock.New(path)
		free, err := l.TryLock()
		if err != nil || !free {
			release()
			return nil, path, err
		}
		held = append(held, l)
	}
	if busy, err = k.making(root); busy != "" || err != nil {
		release()
		return nil, busy, err
	}
	return release, "", nil
}

// making is the path of an inner lock that another command has; empty if none is.
func (k Kind) making(root string) (busy string, err error) {
	folder := filepath.Join(root, k.folders[0])
	for _, pattern := range k.inner {
		found, err := fs.Glob(os.DirFS(folder), pattern)
		if err != nil {
			return "", err
		}
		for _, name := range found {
			l := flock.New(filepath.Join(folder, filepath.FromSlash(name)))
			if free, err := l.TryLock(); !free || err != nil {
				return l.Path(), err
			}
			if err := l.Unlock(); err != nil {
				return "", err
			}
		}
	}
	return "", nil
}
