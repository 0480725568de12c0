package inputs

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/internal/fileview"
)

// settled is the age from which a file's times tell every later change: more
// than the coarsest clock of a file system that is in use, two seconds.
const settled = 3 * time.Second

// Set notes what a run reads. Its methods do what those of package os do and
// may be called by several goroutines. A nil Inputs notes nothing.
type Set struct {
	mu      sync.Mutex
	entries map[place]entry
	opaque  bool
	view    fileview.View
}

// Through has files that a view shows read through it.
func (in *Set) Through(view fileview.View) { in.view = view }

// View is what files are read through, or nil.
func (in *Set) View() fileview.View {
	if in == nil {
		return nil
	}
	return in.view
}

// place is what was asked, and where.
type place struct {
	about about
	path  string
}

type about byte

const (
	content about = 'f' // a file's content
	listing about = 'd' // a folder's entries
	nature  about = 's' // whether it is a file, a folder or nothing
)

// entry is what was found.
type entry struct {
	status
	settled bool   // every change since shows in the status
	sum     string // of the content or the listing; a settled file may have none
	carried bool   // from the last run, and not looked at in this one
}

// entryOf is the entry of a file, with the sum of its content if it needs one.
func entryOf(info fs.FileInfo, data []byte) entry {
	e := entry{status: statusOf(info)}
	if e.settled = e.isSettled(time.Now()); !e.settled {
		e.sum = sumOf(data)
	}
	return e
}

// NewSet returns Inputs that have noted nothing.
func NewSet() *Set { return &Set{entries: make(map[place]entry)} }

// Opaque says that the run depends on something that cannot be noted, so that it
// has to be done each time.
func (in *Set) Opaque() {
	if in == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.opaque = true
}

// ReadFile is [os.ReadFile].
func (in *Set) ReadFile(path string) ([]byte, error) {
	var buffer bytes.Buffer
	err := in.ReadInto(&buffer, path)
	return buffer.Bytes(), err
}

// ReadInto reads a file into a buffer, in place of what that held.
func (in *Set) ReadInto(buffer *bytes.Buffer, path string) error {
	buffer.Reset()
	info, err := readable(path)
	if err != nil {
		in.failed(content, path, err)
		return err
	}
	text, is, err := in.viewed(path, info)
	if is {
		buffer.Write(text)
	} else if err == nil {
		err = readAll(buffer, path, info.Size())
	}
	if err != nil {
		in.failed(content, path, err)
		return err
	}
	if in == nil {
		return nil
	}
	in.note(place{content, path}, entryOf(info, buffer.Bytes()))
	return nil
}

// viewed is the content of a file that the view shows.
func (in *Set) viewed(path string, info fs.FileInfo) (text []byte, is bool, err error) {
	if in == nil || in.view == nil {
		return nil, false, nil
	}
	return fileview.ReadAt(in.view, path, info)
}

// Why a file is not read.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrTooLarge   = errors.New("too large")
)

// largest is the size up to which files are read, in bytes.
const largest = 256 << 20

// readable reports why there is no reading the file: a named pipe would make
// wait for ever, and some devices have no end.
func readable(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &fs.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
	case !info.Mode().IsRegular() && path != os.DevNull:
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrNotRegular}
	case info.Size() > largest:
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrTooLarge}
	}
	return info, nil
}

func readAll(buffer *bytes.Buffer, path string, size int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()                                  // it was only read
	if need := int(size) + bytes.MinRead; buffer.Available() < need { // Grow would clear, and so touch, all that it gets
		*buffer = *bytes.NewBuffer(make([]byte, 0, max(2*buffer.Cap(), need)))
	}
	_, err = buffer.ReadFrom(f)
	return err
}

// ReadDir is [os.ReadDir].
func (in *Set) ReadDir(path string) ([]fs.DirEntry, error) {
	if in == nil {
		return os.ReadDir(path)
	}
	info, err := os.Stat(path)
	if err != nil {
		in.failed(listing, path, err)
		return nil, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		in.failed(listing, path, err)
		return nil, err
	}
	found := entryOf(info, nil)
	found.sum = sumOfEntries(entries)
	in.note(place{listing, path}, found)
	return entries, nil
}

// Stat is [os.Stat]. Only what kind of file it is may matter to the run.
func (in *Set) Stat(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case in == nil:
	case err != nil:
		in.failed(nature, path, err)
	default:
		in.note(place{nature, path}, entry{status: status{kind: kindOf(info)}})
	}
	return info, err
}

// failed notes that there is nothing at path. Other failures may pass unseen.
func (in *Set) failed(what about, path string, err error) {
	if !errors.Is(err, fs.ErrNotExist) {
		in.Opaque()
		return
	}
	in.note(place{what, path}, entry{status: status{kind: absent}})
}

// note keeps the first answer: should a file change during the run, the next one
// finds another.
func (in *Set) note(p place, found entry) {
	if in == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if e, noted := in.entries[p]; !noted || e.carried {
		in.entries[p] = found
	}
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return string(sum[:])
}

// sumOfEntries sums up names and types of a folder's entries.
func sumOfEntries(entries []fs.DirEntry) string {
	h := sha256.New()
	for _, e := range entries {
		_, _ = h.Write([]byte(e.Name() + "\x00" + e.Type().String() + "\x00")) // never fails
	}
	return string(h.Sum(nil))
}
