package program

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/slipway-dev/slipway/internal/safefs"
)

// noteName is the file beside programs that says what they are. It is written last: a folder without it is not filled.
const noteName = "slipway-programs.json"

// note says what the programs in a folder were built from, and what they were like then. Programs are compared with it
// each time that they are found, by size and time, and by content when these differ: a disk that was full, or a copy
// that was cut off, leaves programs that end with nothing but a signal.
type note struct {
	Key   string           `json:"key"` // of the sources, see source.key
	Files map[string]state `json:"files"`
}

// state is what a file is like.
type state struct {
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	SHA256   string    `json:"sha256"`
}

// errDamaged is why a program is not used.
var errDamaged = errors.New("it has changed since it was built")

// readNote reads the note of a folder. Ok is false if there is none that can be read.
func readNote(dir string) (n note, ok bool) {
	text, err := os.ReadFile(filepath.Join(dir, noteName))
	return n, err == nil && json.Unmarshal(text, &n) == nil && n.Key != ""
}

// write writes the note into a folder.
func (n note) write(dir string) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return safefs.WriteCache(filepath.Join(dir, noteName), text, 0o644)
}

// noteOf describes programs in a folder.
func noteOf(dir, key string, programs []string) (note, error) {
	n := note{Key: key, Files: map[string]state{}}
	for _, program := range programs {
		var err error
		if n.Files[program], err = stateOf(filepath.Join(dir, fileName(program))); err != nil {
			return n, err
		}
	}
	return n, nil
}

func stateOf(path string) (state, error) {
	info, err := os.Stat(path)
	if err != nil {
		return state{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return state{}, err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return state{}, err
	}
	return state{info.Size(), info.ModTime(), hex.EncodeToString(sum.Sum(nil))}, nil
}

// check compares a program with the note of its folder. If only the program's time is another one, it gets that of the
// note: the note is written by those who hold the slot, and by no one else.
func (n note) check(dir, program string) error {
	then, known := n.Files[program]
	path := filepath.Join(dir, fileName(program))
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errDamaged, err)
	case !known:
		return fmt.Errorf("%w: it does not match the note beside it", errDamaged)
	case info.Size() != then.Size:
		return fmt.Errorf("%w: %d bytes, of %d", errDamaged, info.Size(), then.Size)
	case info.ModTime().Equal(then.Modified):
		return nil
	}
	now, err := stateOf(path)
	if err != nil || now.SHA256 != then.SHA256 {
		return fmt.Errorf("%w: its content has changed", errDamaged)
	}
	_ = os.Chtimes(path, then.Modified, then.Modified) // or else it is compared again
	return nil
}

// sound compares a program that was named by its path with the note beside it, if there is one.
func sound(path string) error {
	n, ok := readNote(filepath.Dir(path))
	if !ok {
		return nil
	}
	for program := range n.Files {
		if fileName(program) == filepath.Base(path) {
			return n.check(filepath.Dir(path), program)
		}
	}
	return nil
}
