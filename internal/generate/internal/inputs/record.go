package inputs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// record is what a memory's file holds: a line with the format's version, then
// numbers as varints and texts with their lengths before them, and last the sum
// of all that.
type record struct {
	key     string
	answer  []byte
	help    []byte
	entries map[place]entry
}

const version = "slipway manifest 2\n"

func (r record) encode() []byte {
	out := make([]byte, 0, 64<<10)
	out = append(out, version...)
	out = appendText(out, r.key)
	out = appendText(out, string(r.answer))
	out = appendText(out, string(r.help))
	out = binary.AppendUvarint(out, uint64(len(r.entries)))
	for p, e := range r.entries {
		isSettled := byte(0)
		if e.settled {
			isSettled = 1
		}
		out = append(out, byte(p.about), byte(e.kind), isSettled)
		out = appendText(out, p.path)
		out = appendText(out, e.sum)
		out = binary.AppendVarint(out, e.size)
		out = binary.AppendVarint(out, e.modified)
		out = binary.AppendVarint(out, e.changed)
		out = binary.AppendUvarint(out, e.inode)
	}
	return append(out, sumOf(out)...)
}

func appendText(out []byte, text string) []byte {
	out = binary.AppendUvarint(out, uint64(len(text)))
	return append(out, text...)
}

// decode reads what encode wrote; anything else is not ok.
func decode(data []byte) (record, bool) {
	end := len(data) - len(sumOf(nil))
	if end < 0 || !bytes.HasPrefix(data, []byte(version)) || sumOf(data[:end]) != string(data[end:]) {
		return record{}, false
	}
	d := decoder{rest: data[len(version):end]}
	r := record{key: d.text(), answer: []byte(d.text()), help: []byte(d.text())}
	count := d.number()
	r.entries = make(map[place]entry, min(count, uint64(end)))
	for range count {
		kinds := d.bytes(3)
		if d.failed {
			break
		}
		p := place{about: about(kinds[0]), path: d.text()}
		e := entry{settled: kinds[2] == 1, sum: d.text(), carried: true}
		e.status = status{kind: kind(kinds[1]), size: d.signed(), modified: d.signed(), changed: d.signed(), inode: d.number()}
		r.entries[p] = e
	}
	return r, !d.failed && len(d.rest) == 0
}

// decoder takes values from the front of what is left. Once something is
// missing, all that follows is empty.
type decoder struct {
	rest   []byte
	failed bool
}

func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.failed, d.rest = true, nil
		return nil
	}
	taken := d.rest[:n]
	d.rest = d.rest[n:]
	return taken
}

func (d *decoder) text() string { return string(d.bytes(d.number())) }

func (d *decoder) number() uint64 {
	value, n := binary.Uvarint(d.rest)
	d.skip(n)
	return value
}

func (d *decoder) signed() int64 {
	value, n := binary.Varint(d.rest)
	d.skip(n)
	return value
}

// skip passes over a varint of n bytes, which is none if n is not positive.
func (d *decoder) skip(n int) {
	if n <= 0 {
		d.failed, d.rest = true, nil
		return
	}
	d.rest = d.rest[n:]
}

// write replaces the memory's file at once.
func (m Memory) write(r record) error {
	folder := filepath.Dir(m.path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(folder, ".new-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(r.encode())
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), m.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return prune(folder)
}

// kept is how many memories a folder holds at most; a project has a few, for
// its various sets of options.
const kept = 200

// memoryName matches the names of memories, and of those that a killed run has begun. The user may have made any folder
// the cache, and other files lie there then.
var memoryName = lazy.Regexp(`^([0-9a-f]{64}|\.new-[0-9]+)$`)

// prune removes the memories that were written longest ago.
func prune(folder string) error {
	entries, err := os.ReadDir(folder)
	if len(entries) > kept { // or else no name need be looked at
		entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return !e.Type().IsRegular() || !memoryName().MatchString(e.Name()) })
	}
	if err != nil || len(entries) <= kept {
		return err
	}
	age := func(e os.DirEntry) int64 {
		info, err := e.Info()
		if err != nil {
			return 0 // another run removed it
		}
		return info.ModTime().UnixNano()
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return int(min(max(age(a)-age(b), -1), 1)) })
	for _, e := range entries[:len(entries)-kept] {
		if err := os.Remove(filepath.Join(folder, e.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
