// Package rootfs makes the files that a static program needs besides itself: the certificates of authorities, the users
// root and nonroot, the time zones, and a folder for temporary files.
//
//	files, err := rootfs.Files(goroot)
//
// All of it comes with slipway and with Go, nothing from the machine: so images are the same wherever they are made.
package rootfs

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// Nonroot is the user and the group that programs run as.
const Nonroot = 65532

// User is a user, or USER:GROUP, by numbers: pods that must not run as root want these. One that the files have no name
// for is not known.
func User(text string) (numbers string, known bool) {
	user, group, grouped := strings.Cut(text, ":")
	if user, known = number(user); !known || !grouped && user == text {
		return user, known
	}
	if !grouped {
		return user + ":" + user, true // as in /etc/passwd
	}
	group, known = number(group)
	return user + ":" + group, known
}

// number is the number of a user or a group; they have the same ones.
func number(name string) (string, bool) {
	switch name {
	case "root":
		return "0", true
	case "nonroot":
		return strconv.Itoa(Nonroot), true
	}
	_, err := strconv.ParseUint(name, 10, 31)
	return name, err == nil
}

// File is a file or, when its Mode says so, a folder of an image.
type File struct {
	Path string // without the leading slash
	Mode fs.FileMode
	Data []byte
	UID  int
}

// Files are the files, in an order that does not change. Time zones are those of the Go installation.
func Files(goroot string) ([]File, error) {
	files := []File{
		{Path: "etc", Mode: fs.ModeDir | 0o755},
		{Path: "etc/group", Mode: 0o644, Data: []byte("root:x:0:\nnonroot:x:65532:\n")},
		{Path: "etc/passwd", Mode: 0o644, Data: []byte("root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n")},
		{Path: "etc/ssl", Mode: fs.ModeDir | 0o755},
		{Path: "etc/ssl/certs", Mode: fs.ModeDir | 0o755},
		{Path: "etc/ssl/certs/ca-certificates.crt", Mode: 0o644, Data: authorities()},
		{Path: "home", Mode: fs.ModeDir | 0o755},
		{Path: "home/nonroot", Mode: fs.ModeDir | 0o700, UID: Nonroot},
		{Path: "tmp", Mode: fs.ModeDir | fs.ModeSticky | 0o777},
	}
	archive, err := database(goroot)
	if err != nil {
		return nil, err
	}
	zones, err := zones(archive)
	return append(files, zones...), err
}

// Digest is a hash over files.
func Digest(files []File) string {
	sum := sha256.New()
	for _, f := range files {
		fmt.Fprintf(sum, "%q %v %d %d\n", f.Path, f.Mode, f.UID, len(f.Data))
		sum.Write(f.Data)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// authorities are Mozilla's, as Go's programs have them when a system has none. Those that are trusted under a
// condition only, for certificates up to some day, are left out: a file cannot say so.
func authorities() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer takes everything
	}
	return out.Bytes()
}

// zones unpacks the database of time zones to where programs look for it.
func zones(archive []byte) ([]File, error) {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, fmt.Errorf("the time zones of the Go installation: %w", err)
	}
	const dir = "usr/share/zoneinfo"
	folders := map[string]bool{}
	var files []File
	for _, entry := range r.File {
		if !fs.ValidPath(strings.TrimSuffix(entry.Name, "/")) || strings.HasSuffix(entry.Name, "/") {
			continue
		}
		data, err := content(entry)
		if err != nil {
			return nil, err
		}
		full := path.Join(dir, entry.Name)
		for folder := path.Dir(full); folder != "." && !folders[folder]; folder = path.Dir(folder) {
			folders[folder] = true
			files = append(files, File{Path: folder, Mode: fs.ModeDir | 0o755})
		}
		files = append(files, File{Path: full, Mode: 0o644, Data: data})
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

func content(entry *zip.File) ([]byte, error) {
	f, err := entry.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
