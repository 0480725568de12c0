package etcd

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.uber.org/zap"
)

// checkTime bounds the wait for a file that another process holds.
const checkTime = time.Second

// check reads all that is in a data folder, which may be empty.
func check(dir string) error {
	applied, err := checkStore(dir)
	if err != nil {
		return err
	}
	return checkLog(dir, applied)
}

// checkStore reads the whole store in a data folder, as etcd is about to do. Where etcd meets a damaged page, it
// panics in goroutines of its own, which nobody can recover. A store that is absent or empty is none: etcd makes it
// from its log. What is returned is the log's last entry that the store has.
func checkStore(dir string) (applied uint64, err error) {
	file := filepath.Join("member", "snap", "db")
	info, err := os.Stat(filepath.Join(dir, file))
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return 0, nil
	}
	if err == nil {
		applied, err = walk(filepath.Join(dir, file))
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", file, err)
	}
	return applied, nil
}

// Where etcd notes the last entry that it applied (server/storage/schema).
var (
	metaBucket   = []byte("meta")
	appliedEntry = []byte("consistent_index")
)

// walk looks at every page that is in use.
func walk(path string) (applied uint64, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // the file is shorter than it says
	db, err := bbolt.Open(path, 0, &bbolt.Options{ReadOnly: true, Timeout: checkTime})
	if err != nil {
		return 0, err
	}
	defer db.Close()
	tx, err := db.Begin(false)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // it changes nothing
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("a page is damaged: %v", r)
		}
	}()
	err = tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
		if v := b.Get(appliedEntry); bytes.Equal(name, metaBucket) && len(v) == 8 {
			applied = binary.BigEndian.Uint64(v)
		}
		return b.ForEach(func(_, _ []byte) error { return nil })
	})
	return applied, err
}

// errLost says that the log lacks what the store has. etcd waits for other members to send it then, or goes on and
// takes what is written for what it has already: it acknowledges it and does not keep it.
var errLost = errors.New("the log of writes ends before the last write in the store")

// checkLog reads the whole log of writes. Where that is damaged, etcd panics and does not say why. A last entry
// that is not complete was never acknowledged, and is none.
func checkLog(dir string, applied uint64) error {
	folder := filepath.Join("member", "wal")
	err := readLog(filepath.Join(dir, folder), applied)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("%s: %w", folder, err)
}

func readLog(path string, applied uint64) error {
	log := zap.NewNop()
	snapshots, err := wal.ValidSnapshotEntries(log, path)
	if err != nil {
		return err
	}
	if len(snapshots) == 0 {
		return errLost // there is one from its beginning
	}
	last := snapshots[len(snapshots)-1]
	w, err := wal.OpenForRead(log, path, last)
	if err != nil {
		return err
	}
	defer w.Close()
	_, _, entries, err := w.ReadAll()
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	end := last.GetIndex()
	if len(entries) > 0 {
		end = entries[len(entries)-1].GetIndex()
	}
	if end < applied {
		return errLost
	}
	return nil
}
