package base

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path/filepath"
)

var errLarge = fmt.Errorf("it holds more than %d MiB", maxSize>>20)

// isArchive reports whether a base is packed, as it was before it was a text.
func isArchive(data []byte) bool { return bytes.HasPrefix(data, []byte{0x1f, 0x8b}) }

// unpack reads a packed base: a compressed tar archive.
func unpack(data []byte) (*Base, error) {
	b, err := unpackFiles(data)
	if err != nil {
		return nil, &SyntaxError{Err: fmt.Errorf("its archive cannot be unpacked: %w", err)}
	}
	b.changed, b.stale = false, true
	return b, nil
}

func unpackFiles(data []byte) (*Base, error) {
	zr, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	b, rows := New(), 0
	tr := tar.NewReader(io.LimitReader(zr, maxSize))
	for {
		header, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if !filepath.IsLocal(filepath.FromSlash(header.Name)) {
			return nil, errOutside
		}
		content, err := io.ReadAll(tr)
		if err != nil {
			return nil, err
		}
		if rows += bytes.Count(content, []byte("\n")) + 1; rows > mostLines {
			return nil, errLines
		}
		if b.Set(header.Name, content); len(b.files) > mostFiles {
			return nil, errFiles
		}
	}
	if _, err := io.Copy(io.Discard, io.LimitReader(zr, maxSize)); err != nil { // verifies the checksum
		return nil, err
	}
	return b, nil
}
