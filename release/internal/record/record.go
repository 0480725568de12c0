// Package record makes files in steps, and remembers which of them are complete, so that work that was cut off goes on.
//
//	w, err := record.Open(dir)
//	defer w.Close()
//	sums, kept, err := w.Do(record.Step{Key: record.Key("v1", inputs), Files: []string{path}, Make: func(temp string) error { … }})
//
// A step writes into a folder of its own, and its files get their names when all of them are written. A step is done if
// the record has its key and the files are still what they were, byte for byte; else it is done again.
package record

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// Sum is the SHA-256 of a file.
type Sum = [sha256.Size]byte

// Work is a folder with a record. One process at a time uses it.
type Work struct {
	dir  string
	lock *flock.Flock
	done map[string]entry // by the paths of files
}

// entry is what a complete file is.
type entry struct {
	Key string `json:"key"`
	Sum string `json:"sha256"`
}

const (
	recordName = "record.json"
	tempName   = "unfinished"
)

// ErrBusy is that another process uses the folder.
var ErrBusy = errors.New("another process works in it")

// Open reads the record of a folder, which is made if it is not there. It removes what an interrupted step left.
func Open(dir string) (*Work, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	w := &Work{dir: dir, lock: flock.New(filepath.Join(dir, "lock")), done: map[string]entry{}}
	locked, err := w.lock.TryLock()
	if err == nil && !locked {
		err = ErrBusy
	}
	if err != nil {
		return nil, &report.Error{What: "the folder of the work cannot be used", Where: dir, Err: err, Hint: "wait until the other one has ended"}
	}
	text, err := os.ReadFile(filepath.Join(dir, recordName))
	if err == nil {
		err = json.Unmarshal(text, &w.done)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		clear(w.done) // a record that cannot be read says nothing: all is made again
	}
	return w, removeAll(filepath.Join(dir, tempName))
}

// Close lets others use the folder.
func (w *Work) Close() error { return w.lock.Unlock() }

// Remove removes a folder with a record. One that another process uses stays, with [ErrBusy].
func Remove(dir string) error {
	w, err := Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(w.Close(), removeAll(dir))
}

// Temp makes an empty folder, which is removed when the folder is next opened or done is called.
func (w *Work) Temp() (dir string, done func(), err error) {
	root := filepath.Join(w.dir, tempName)
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", nil, err
	}
	dir, err = os.MkdirTemp(root, "")
	return dir, func() { _ = removeAll(dir) }, err
}

// Step makes files.
type Step struct {
	Key   string                                       // of all that the files depend on
	Files []string                                     // their paths, on the disk of the folder
	Make  func(ctx context.Context, temp string) error // writes them into the folder temp, under the last elements of the paths
}

// Key is a key of all that is given.
func Key(of ...any) string {
	h := sha256.New()
	for _, v := range of {
		fmt.Fprintf(h, "%q\n", fmt.Sprint(v))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Do does a step unless it is done, and returns the checksums of its files in their order. Kept reports that nothing
// had to be done.
func (w *Work) Do(ctx context.Context, s Step) (sums []Sum, kept bool, err error) {
	if sums, kept := w.kept(s); kept {
		return sums, true, nil
	}
	temp, done, err := w.Temp()
	if err != nil {
		return nil, false, err
	}
	defer done()
	if err := s.Make(ctx, temp); err != nil {
		return nil, false, err
	}
	for _, file := range s.Files {
		sum, err := w.take(filepath.Join(temp, filepath.Base(file)), file, s.Key)
		if err != nil {
			return nil, false, err
		}
		sums = append(sums, sum)
	}
	return sums, false, w.save()
}

// kept returns the checksums of a step's files if all of them are what the record has.
func (w *Work) kept(s Step) (sums []Sum, ok bool) {
	for _, file := range s.Files {
		then, known := w.done[file]
		if !known || then.Key != s.Key {
			return nil, false
		}
		sum, err := SumOf(file)
		if err != nil || hex.EncodeToString(sum[:]) != then.Sum {
			return nil, false
		}
		sums = append(sums, sum)
	}
	return sums, true
}

// take gives a finished file its name and notes it.
func (w *Work) take(made, file, key string) (Sum, error) {
	sum, err := SumOf(made)
	if err != nil {
		return sum, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return sum, err
	}
	w.done[file] = entry{key, hex.EncodeToString(sum[:])}
	return sum, os.Rename(made, file)
}

func (w *Work) save() error {
	text, err := json.MarshalIndent(w.done, "", "  ")
	if err != nil {
		return err
	}
	return safefs.Write(filepath.Join(w.dir, recordName), text, 0o644)
}

// SumOf is the checksum of a file.
func SumOf(path string) (sum Sum, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, err
	}
	return Sum(h.Sum(nil)), nil
}

// removeAll removes a folder in which the go command may have made others that cannot be written.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	walked := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o700)
		}
		return err
	})
	return errors.Join(walked, os.RemoveAll(dir))
}
