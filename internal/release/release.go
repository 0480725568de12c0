// Package release is what releases consist of: the names of their files, what is stamped into their programs, the
// checksums with their signature, and reading archives. It uses no network; package program gets releases, and the
// release's own program makes them:
//
//	name := release.Archive("v0.1.0", "linux", "amd64") // slipway_v0.1.0_linux_amd64.tar.gz
//	sums, err := release.Verify(key, text, signature)
//	want, ok := sums[name]
//
// A release is a folder of files: an archive for each platform, other packages, [SumsName] with the checksums of all of
// them, and [SignatureName] with the signature of that. Checksums name files, and names of archives have the version,
// so signed checksums of one release are of no use for another.
package release

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
)

// Module is the module of which releases are versions.
const Module = "github.com/slipway-dev/slipway"

// Base is the address below which each version has a folder with its files.
const Base = "https://" + Module + "/releases/download/"

// Latest is the address of the folder with the files of the newest release. A mirror has it as the folder
// [LatestFolder] beside those of versions.
const (
	Latest       = "https://" + Module + "/releases/latest/download/"
	LatestFolder = "latest"
)

// The names of the checksums, in the format of sha256sum, and of the base64 of their ed25519 signature.
const (
	SumsName      = "SHA256SUMS"
	SignatureName = "SHA256SUMS.sig"
)

// What `-ldflags -X` stamps into released programs.
var (
	commit    string
	date      string
	publicKey string
)

// Stamp is what was stamped into this program; all is empty in one that is of no release.
type Stamp struct {
	Commit    string // of the sources
	Date      string // of that commit, as in RFC 3339
	PublicKey string // base64
}

// Stamped returns what was stamped into this program.
func Stamped() Stamp { return Stamp{Commit: commit, Date: date, PublicKey: publicKey} }

// LinkerFlags are the flags of the Go linker that stamp s.
func (s Stamp) LinkerFlags() []string {
	const pkg = Module + "/internal/release."
	var flags []string
	for _, x := range [][2]string{{"commit", s.Commit}, {"date", s.Date}, {"publicKey", s.PublicKey}} {
		if x[1] != "" {
			flags = append(flags, "-X", pkg+x[0]+"="+x[1])
		}
	}
	return flags
}

// ErrNoKey is that a program has no key to check signatures with.
var ErrNoKey = errors.New("this slipway has no public key of releases")

// errKey is that a key cannot be one.
var errKey = errors.New("the public key of releases is damaged")

// Key reads the public key.
func (s Stamp) Key() (ed25519.PublicKey, error) {
	if s.PublicKey == "" {
		return nil, ErrNoKey
	}
	key, err := base64.StdEncoding.DecodeString(s.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errKey, err)
	}
	if len(key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("%w: %d bytes, of %d", errKey, len(key), ed25519.PublicKeySize)
	}
	return key, nil
}

// Folder is the only folder in the archive of a platform; the archive's name begins with it.
func Folder(version, goos, goarch string) string {
	return "slipway_" + version + "_" + goos + "_" + goarch
}

// Archive is the name of a platform's archive.
func Archive(version, goos, goarch string) string {
	if goos == windows {
		return Folder(version, goos, goarch) + ".zip"
	}
	return Folder(version, goos, goarch) + ".tar.gz"
}

const windows = "windows"

// File is the name of a program's file.
func File(program, goos string) string {
	if goos == windows {
		return program + ".exe"
	}
	return program
}

// Programs are the programs in the archive of a system, without the ends of their files' names. Real nodes are
// Linux's.
func Programs(goos string) []string {
	all := []string{"slipway", "slipway-cluster", "slipway-kubectl", "slipway-check", "slipway-codegen"}
	if goos == "linux" {
		all = append(all, "slipway-node", "slipway-container")
	}
	return all
}

// Texts are the other files in each archive.
func Texts() []string { return []string{"LICENSE", "README.md"} }

// Platforms are those that releases have archives for, as GOOS and GOARCH.
func Platforms() [][2]string {
	return [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {windows, "amd64"}, {windows, "arm64"}}
}

// Has reports whether releases have an archive for a platform.
func Has(goos, goarch string) bool { return slices.Contains(Platforms(), [2]string{goos, goarch}) }
