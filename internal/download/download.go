// Package download gets files of slipway's releases, and keeps nothing that the release's key does not vouch for:
//
//	from, err := download.Open(os.Getenv, release.Stamped(), handler)
//	archive, err := from.Archive(ctx, "v0.1.0", "linux", "amd64", folder)
//
// Only https is spoken, and http with this machine. Sizes are limited, redirects are few and lead to https, and a
// server that stops sending is given up. A download that was cut off goes on where it was. A file has its name only
// when its checksum is the one in the signed list; before, it is a part that no command reads but this one.
//
// The error of a failed download is a [report.Error] with one of the reasons below. [IsAttack] picks out those that an
// honest server and a sound network do not bring about.
package download

import (
	"crypto/ed25519"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// Variable is the environment variable with the user's wish: [Off], or the address of a mirror.
const Variable = "SLIPWAY_DOWNLOAD"

// Off is the value of [Variable] with which nothing is downloaded.
const Off = "off"

// ErrOff is that the user wants no downloads.
var ErrOff = errors.New("downloads are off, by " + Variable + "=" + Off)

// Source is where releases come from.
type Source struct {
	key     ed25519.PublicKey
	base    *url.URL // its path ends with a slash
	client  *http.Client
	handler report.Handler
	tick    func(time.Duration) <-chan time.Time
	free    func(dir string) (bytes uint64, known bool)
}

// stall is how long a server may send next to nothing.
const stall = 30 * time.Second

// Open reads the user's wish and the key. The error is [ErrOff], [release.ErrNoKey], or a [report.Error].
func Open(getenv func(string) string, stamp release.Stamp, h report.Handler) (*Source, error) {
	key, err := stamp.Key()
	if err != nil {
		return nil, err
	}
	wish := getenv(Variable)
	if wish == Off {
		return nil, ErrOff
	}
	if wish == "" {
		wish = release.Base
	}
	base, err := baseOf(wish)
	if err != nil {
		return nil, err
	}
	return &Source{key: key, base: base, client: newClient(base), handler: h, tick: time.Tick, free: safefs.FreeSpace}, nil
}

// errAddress is that a mirror has no usable address.
var errAddress = errors.New("no https address")

// baseOf reads the address of a mirror.
func baseOf(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err == nil && (u.Host == "" || !safe(u) || u.RawQuery != "" || u.Fragment != "") {
		err = errAddress
	}
	if err != nil {
		return nil, &report.Error{What: Variable + " is not the address of a mirror", Where: shown(text), Err: reason(err),
			Hint: "the https address of a folder that has a folder for each version, or http on this machine; " + Off + " to download nothing"}
	}
	if !strings.HasSuffix(u.Path, "/") {
		u.Path += "/"
	}
	return u, nil
}

// shown is an address without secrets, or the name of the variable where it is not clear what is one.
func shown(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return Variable
	}
	return plain(u)
}

// plain is an address without what may be a secret: a user, whose name may be a token, and a query.
func plain(u *url.URL) string {
	p := *u
	p.User, p.RawQuery, p.ForceQuery = nil, "", false
	return p.String()
}

// reason is why an address cannot be read, without the address, which may have a password.
func reason(err error) error {
	if _, ok := errors.AsType[*url.Error](err); ok {
		return errAddress
	}
	return err
}

// safe reports whether others can neither read nor change what is got from an address.
func safe(u *url.URL) bool { return u.Scheme == "https" || u.Scheme == "http" && isLoopback(u) }

// isLoopback reports whether an address is one of this machine.
func isLoopback(u *url.URL) bool {
	host := u.Hostname()
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
