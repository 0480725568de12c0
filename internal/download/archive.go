package download

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/internal/report"
)

const (
	// largest is the most that an archive may have, in bytes.
	largest = 1 << 30
	// tries is how often a download that is cut off goes on in one command, as long as something comes.
	tries = 5
	// grown is how many times larger the programs are than their archive, at most, for the room that they need.
	grown = 4
)

// Why a file is refused.
var (
	ErrChecksum = errors.New("the checksum is not the one that the release has signed")
	errUnlisted = errors.New("the release's checksums do not name this file")
	errRoom     = errors.New("the disk has no room for it")
)

// IsAttack reports whether an error is what an honest server and a sound network do not bring about.
func IsAttack(err error) bool {
	return errors.Is(err, ErrChecksum) || errors.Is(err, release.ErrSignature)
}

// Archive gets the archive of a version for a platform into a folder, and returns its path. A part that an earlier
// command has left there is gone on with.
func (s *Source) Archive(ctx context.Context, version, goos, goarch, dir string) (path string, err error) {
	name := release.Archive(version, goos, goarch)
	s.handler.Handle(report.Step{Name: "downloading " + name + " from " + s.base.Host})
	folder := s.base.JoinPath(version)
	sums, err := s.sums(ctx, folder)
	if err != nil {
		return "", err
	}
	address := folder.JoinPath(name)
	want, ok := sums[name]
	if !ok {
		return "", refusal(address, errUnlisted)
	}
	t := transfer{Source: s, address: address, want: want, part: filepath.Join(dir, name+"."+hex.EncodeToString(want[:8])+".part"), begin: time.Now(), name: name}
	if err := t.complete(ctx); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", refusal(address, err)
	}
	path = filepath.Join(dir, name)
	return path, os.Rename(t.part, path)
}

// sums gets the checksums of a release's folder, once their signature was found to be that of the key.
func (s *Source) sums(ctx context.Context, folder *url.URL) (release.Sums, error) {
	address := folder.JoinPath(release.SumsName)
	text, err := s.small(ctx, address, release.MaxSums)
	var signature []byte
	if err == nil {
		address = folder.JoinPath(release.SignatureName)
		signature, err = s.small(ctx, address, release.MaxSignature)
	}
	var sums release.Sums
	if err == nil {
		sums, err = release.Verify(s.key, text, signature)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, refusal(address, err)
	}
	return sums, nil
}

// refusal is why something was not downloaded.
func refusal(address *url.URL, err error) error {
	e := &report.Error{What: "the download was given up", Where: plain(address), Err: err, Next: "curl -sSIL --max-time 30 " + plain(address),
		Hint: Variable + " names a mirror of the releases, HTTPS_PROXY a proxy; `" + Variable + "=" + Off + "` asks no host"}
	if IsAttack(err) {
		e.What = "SECURITY: the download was refused and removed, since it may have been tampered with"
		e.Hint, e.Next = "report it to slipway's maintainers; "+Variable+" names another mirror of the releases", ""
	}
	return e
}

// transfer is one file on its way.
type transfer struct {
	*Source
	name    string
	address *url.URL
	want    [sha256.Size]byte
	part    string // the file that grows
	begin   time.Time
}

// complete gets the whole file, and removes it when it is not what was signed.
func (t *transfer) complete(ctx context.Context) error {
	resumed := size(t.part) > 0
	if err := t.grow(ctx); err != nil {
		return err
	}
	err := t.verify()
	if errors.Is(err, ErrChecksum) && resumed {
		// An older part may be what is wrong: what the server has now decides.
		if err := t.grow(ctx); err != nil {
			return err
		}
		return t.verify()
	}
	return err
}

// grow gets what is missing, going on when it is cut off as long as something comes.
func (t *transfer) grow(ctx context.Context) error {
	if size(t.part) > 0 && t.matches() {
		return nil // an earlier command was ended before it could give the file its name
	}
	for try := 1; ; try++ {
		before := size(t.part)
		err := t.more(ctx)
		if errors.Is(err, errRange) && before > 0 {
			err = errors.Join(err, os.Remove(t.part)) // from the beginning, then
		}
		if err == nil || ctx.Err() != nil || try == tries || !goesOn(err) || size(t.part) == before {
			return err
		}
	}
}

// goesOn reports whether asking once more may help.
func goesOn(err error) bool {
	return errors.Is(err, errCut) || errors.Is(err, errStalled) || errors.Is(err, errRange)
}

// more asks for the rest of the file once.
func (t *transfer) more(ctx context.Context) (err error) {
	from, err := t.get(ctx, t.address, size(t.part))
	if err != nil {
		return err
	}
	defer from.Close()
	total := int64(0)
	if from.ContentLength >= 0 {
		total = from.begun + from.ContentLength
	}
	if err := t.fits(total, from.begun); err != nil {
		return err
	}
	file, err := os.OpenFile(t.part, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := file.Truncate(from.begun); err != nil {
		return err
	}
	if _, err := file.Seek(from.begun, io.SeekStart); err != nil {
		return err
	}
	defer t.shows(from, total)()
	n, err := io.Copy(file, io.LimitReader(from, largest-from.begun+1))
	switch {
	case err != nil:
		return from.why(err)
	case from.begun+n > largest:
		return errors.Join(errLarge, os.Remove(t.part))
	}
	return nil
}

// fits refuses a file that is too large, or larger than the disk has room for with what is in it.
func (t *transfer) fits(total, there int64) error {
	if total > largest {
		return errLarge
	}
	need := uint64(total - min(there, total) + grown*total)
	if free, known := t.free(filepath.Dir(t.part)); known && free < need {
		return fmt.Errorf("%w: %d MiB are needed, %d MiB are free", errRoom, need>>20, free>>20)
	}
	return nil
}

// matches reports whether the part is the whole file.
func (t *transfer) matches() bool {
	f, err := os.Open(t.part)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return err == nil && [sha256.Size]byte(h.Sum(nil)) == t.want
}

// verify removes a file that is not what was signed.
func (t *transfer) verify() error {
	if t.matches() {
		return nil
	}
	return errors.Join(ErrChecksum, os.Remove(t.part))
}

// size is that of a file, zero if there is none.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// tick is how often progress is reported.
const tick = time.Second

// shows reports progress until it is stopped.
func (t *transfer) shows(from *body, total int64) (stop func()) {
	t.show(from, total)
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		for {
			select {
			case <-over:
				return
			case <-ticker.C:
				t.show(from, total)
			}
		}
	}()
	return func() {
		close(over)
		<-ended
		t.show(from, total)
	}
}

// show reports how many KiB of the file are there.
func (t *transfer) show(from *body, total int64) {
	got := from.got.Load()
	p := report.Progress{Name: "downloading " + t.name, Done: int((from.begun + got) >> 10), Total: int(total >> 10), Unit: "KiB", Elapsed: time.Since(t.begin)}
	if got > 0 && total > 0 && p.Elapsed > tick {
		p.Left = time.Duration(float64(p.Elapsed) * float64(total-from.begun-got) / float64(got))
	}
	t.handler.Handle(p)
}
