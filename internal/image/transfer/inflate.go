package transfer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/slipway-dev/slipway/internal/image/store"
	"github.com/slipway-dev/slipway/internal/safefs"
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
	free, known := safefs.FreeSpace(temp)
	if !known {
		free = maxImage
	}
	if err := errors.Join(copyWithin(out, z, maxImage, free), out.Close()); err != nil {
		return "", errors.Join(err, os.Remove(out.Name()))
	}
	return out.Name(), nil
}

// copyWithin copies no more than a limit, and no more than is free on a disk: a few bytes may stand for as many zeros
// as a disk has.
func copyWithin(to io.Writer, from io.Reader, limit int64, free uint64) error {
	most := int64(min(uint64(limit), free))
	n, err := io.Copy(to, io.LimitReader(from, most))
	if err != nil || n < most {
		return err
	}
	switch _, err := io.ReadFull(from, make([]byte, 1)); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	case most < limit:
		return &store.NoRoomError{Needed: uint64(most) + 1, Free: free}
	}
	return fmt.Errorf("%w: the archive has more than %d GiB uncompressed", errLarge, limit>>30)
}
