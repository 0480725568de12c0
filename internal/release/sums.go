package release

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The most that the checksums and their signature may have, in bytes.
const (
	MaxSums      = 64 << 10
	MaxSignature = 1 << 10
)

// Sums are the SHA-256 checksums of a release's files by their names.
type Sums map[string][sha256.Size]byte

// Text is the content of [SumsName]: the lines of sha256sum, sorted by name.
func (s Sums) Text() []byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(&b, "%x  %s\n", s[name], name)
	}
	return b.Bytes()
}

// Why checksums are refused.
var (
	ErrSignature = errors.New("the signature is not that of slipway's releases")
	ErrSums      = errors.New("not a list of checksums")
)

// Sign returns the content of [SignatureName] for the content of [SumsName].
func Sign(key ed25519.PrivateKey, sums []byte) []byte {
	return []byte(base64.StdEncoding.EncodeToString(ed25519.Sign(key, sums)) + "\n")
}

// Verify reads checksums whose signature is that of key. Nothing of them is looked at before.
func Verify(key ed25519.PublicKey, sums, signature []byte) (Sums, error) {
	if len(signature) > MaxSignature {
		return nil, ErrSignature
	}
	sig, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(signature)))
	if err != nil || len(sig) != ed25519.SignatureSize || !ed25519.Verify(key, sums, sig) {
		return nil, ErrSignature
	}
	return ParseSums(sums)
}

// ParseSums reads the content of [SumsName].
func ParseSums(text []byte) (Sums, error) {
	if len(text) > MaxSums {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrSums, MaxSums)
	}
	sums := Sums{}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		name, sum, err := parseSum(strings.TrimRight(line, "\r\n"))
		if err == nil && sums.has(name) {
			err = errTwice
		}
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrSums, number, err)
		}
		sums[name] = sum
	}
	return sums, nil
}

func (s Sums) has(name string) bool {
	_, ok := s[name]
	return ok
}

// Why a line is none of checksums.
var (
	errTwice = errors.New("a second checksum of the same file")
	errSum   = errors.New("no checksum")
	errName  = errors.New("no name of a file")
)

// parseSum reads a line: 64 hexadecimal digits, a space, a space or an asterisk, the name of a file.
func parseSum(line string) (name string, sum [sha256.Size]byte, err error) {
	const digits = 2 * sha256.Size
	if len(line) < digits+2 || line[digits] != ' ' || line[digits+1] != ' ' && line[digits+1] != '*' {
		return "", sum, errSum
	}
	if _, err := hex.Decode(sum[:], []byte(line[:digits])); err != nil {
		return "", sum, errSum
	}
	name = line[digits+2:]
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") {
		return "", sum, errName
	}
	return name, sum, nil
}
