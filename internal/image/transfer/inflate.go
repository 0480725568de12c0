package transfer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
)

// inflate returns an archive as it was before it was compressed by gzip, in a file in temp, or the archive itself if it
// was not.
func inflate(archive, temp string) (string, error) {
	f, err := os.Open(archive)
	if err != nil {
		return "", err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	if magic, err := in.Peek(2); err != nil || !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return archive, nil // what is too short is no archive either
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return "", err
	}
	out, err := os.CreateTemp(temp, "archive-")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(out, z)
	return out.Name(), errors.Join(err, out.Close())
}
