package seed

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/slipway-dev/slipway/cluster/etcd"
)

// The file is gzip over a first line that names the format and the Kubernetes
// version, and then, for each pair, the lengths of key and value (varints)
// before each of them.

const header = "slipway seed 1 kubernetes "

// maxLength bounds a key or a value; etcd itself takes 1.5 MiB.
const maxLength = 4 << 20

// Encode writes s. The same seed gives the same bytes.
func Encode(w io.Writer, s Seed) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(z, header+s.Kubernetes+"\n"); err != nil {
		return err
	}
	for _, p := range s.Pairs {
		if err := errors.Join(encodeBytes(z, p.Key), encodeBytes(z, p.Value)); err != nil {
			return err
		}
	}
	return z.Close()
}

func encodeBytes(w io.Writer, b []byte) error {
	_, err := w.Write(append(binary.AppendUvarint(nil, uint64(len(b))), b...))
	return err
}

// Decode reads what [Encode] wrote.
func Decode(r io.Reader) (Seed, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return Seed{}, err
	}
	in := bufio.NewReader(z)
	line, err := in.ReadString('\n')
	if err != nil {
		return Seed{}, err
	}
	version, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), header)
	if !ok {
		return Seed{}, fmt.Errorf("unknown format %q", line)
	}
	s := Seed{Kubernetes: version}
	for {
		key, err := decodeBytes(in)
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return Seed{}, err
		}
		value, err := decodeBytes(in)
		if err != nil {
			return Seed{}, fmt.Errorf("value of %s: %w", key, noEOF(err))
		}
		s.Pairs = append(s.Pairs, etcd.Pair{Key: key, Value: value})
	}
}

// decodeBytes returns io.EOF only when nothing at all is left.
func decodeBytes(r *bufio.Reader) ([]byte, error) {
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return nil, err
	}
	if n > maxLength {
		return nil, fmt.Errorf("%d bytes are too long", n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, noEOF(err)
	}
	return b, nil
}

// noEOF turns an end in the middle of a record into an error that says so.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
