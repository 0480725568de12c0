package assemble

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	names "github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/release/internal/record"
)

// KeyName is the file with the public key, for openssl.
const KeyName = "slipway-release.pem"

// keyText is the content of [KeyName].
func keyText(key ed25519.PublicKey) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

// Why a release is not signed.
var (
	errNoPrivate = errors.New("there is none in the environment")
	errUnstamped = errors.New("it was made without a public key")
	errOtherKey  = errors.New("it was made with the public key of another pair")
	errFiles     = errors.New("they are not those of the checksums")
)

// Sign signs a release that was made with the public key alone. It starts no program, so that none gets the key.
func Sign(o Options) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.Key == nil {
		return &report.Error{What: "no private key", Where: "SLIPWAY_RELEASE_KEY", Err: errNoPrivate, Hint: "the base64 of an ed25519 seed"}
	}
	if err := o.plain(); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(o.dist(), names.SumsName))
	if err != nil {
		return &report.Error{What: "the release is not complete", Where: o.dist(), Err: err, Next: "make release VERSION=" + o.Version}
	}
	if err := errors.Join(o.compare(text), o.belongs()); err != nil {
		return err
	}
	if err := writeSignature(o.dist(), o.Key, text); err != nil {
		return err
	}
	o.Handler.Handle(report.Result{Text: "signed " + o.dist(), Value: o.dist()})
	return nil
}

// compare refuses a release whose files are not exactly those that its checksums list.
func (o Options) compare(text []byte) error {
	sums, err := names.ParseSums(text)
	if err != nil {
		return &report.Error{What: "the checksums cannot be read", Where: filepath.Join(o.dist(), names.SumsName), Err: err}
	}
	wrong, err := differing(o.dist(), sums)
	stray, err2 := unlisted(o.dist(), sums)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if wrong = append(wrong, stray...); len(wrong) == 0 {
		return nil
	}
	return &report.Error{What: "the files of the release are others", Where: o.dist(), Err: errFiles, Hint: strings.Join(wrong, "\n"), Next: "make release VERSION=" + o.Version}
}

// differing says which of the listed files are not there, or not as they are listed.
func differing(dist string, sums names.Sums) (wrong []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		sum, err := record.SumOf(filepath.Join(dist, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			wrong = append(wrong, name+" is missing")
		case err != nil:
			return nil, err
		case sum != sums[name]:
			wrong = append(wrong, name+" has another checksum")
		}
	}
	return wrong, nil
}

// unlisted says which files are there without being listed. Checksums do not list themselves.
func unlisted(dist string, sums names.Sums) (wrong []string, err error) {
	found, err := os.ReadDir(dist)
	for _, f := range found {
		if _, listed := sums[f.Name()]; !listed && f.Name() != names.SumsName && f.Name() != names.SignatureName {
			wrong = append(wrong, f.Name()+" is not listed")
		}
	}
	return wrong, err
}

// belongs refuses a release that was made with another public key, or with none.
func (o Options) belongs() error {
	want, err := keyText(o.PublicKey)
	if err != nil {
		return err
	}
	got, err := os.ReadFile(filepath.Join(o.dist(), KeyName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = errUnstamped
	case err == nil && !bytes.Equal(got, want):
		err = errOtherKey
	}
	if err != nil {
		return &report.Error{What: "the private key is not the release's", Where: filepath.Join(o.dist(), KeyName), Err: err, Hint: "make the release with the public key of this private key"}
	}
	return nil
}

// writeSignature signs checksums, and reads the signature as those who download do before it is written.
func writeSignature(dist string, key ed25519.PrivateKey, text []byte) error {
	signature := names.Sign(key, text)
	public, _ := key.Public().(ed25519.PublicKey)
	if _, err := names.Verify(public, text, signature); err != nil {
		return fmt.Errorf("verify the signature: %w", err)
	}
	return safefs.Write(filepath.Join(dist, names.SignatureName), signature, 0o644)
}
