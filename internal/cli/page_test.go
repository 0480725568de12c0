package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// pageLimit bounds how long a page may take to be there, and to answer.
const pageLimit = 30 * time.Second

// linkOf finds the link to a page in what a command prints.
var linkOf = lazy.Regexp(`(http://127\.0\.0\.1:\d+)/#(\S*)\?token=(\w+)`)

// askPage is `page FILE QUESTION [TEXT]`: it asks the page, whose link a command prints into the file, over its
// interface for browsers. The answer goes to standard output; of a stream, up to a line with the text.
func askPage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: page FILE QUESTION [TEXT]")
	}
	end := strings.Join(args[2:], "")
	ctx, cancel := context.WithTimeout(context.Background(), pageLimit)
	defer cancel()
	base, token := awaitLink(ctx, ts, ts.MkAbs(args[0]))
	kept := ts.MkAbs(args[0]) + ".key"
	if _, err := os.Stat(kept); err != nil {
		var given struct{ Key string }
		text := pageAnswer(ctx, ts, "POST", base+"/api/session", fmt.Sprintf(`{"token":%q}`, token), "", "")
		ts.Check(json.Unmarshal([]byte(text), &given))
		ts.Check(os.WriteFile(kept, []byte(given.Key), 0o600))
	}
	key, err := os.ReadFile(kept)
	ts.Check(err)
	_, err = io.WriteString(ts.Stdout(), pageAnswer(ctx, ts, "GET", base+"/api/"+args[1], "", string(key), end))
	ts.Check(err)
}

// awaitLink waits for a command to print a link.
func awaitLink(ctx context.Context, ts *testscript.TestScript, file string) (base, token string) {
	for {
		text, err := os.ReadFile(file)
		if found := linkOf().FindStringSubmatch(string(text)); err == nil && found != nil {
			return found[1], found[3]
		}
		select {
		case <-ctx.Done():
			ts.Fatalf("no link came: %s", text)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func pageAnswer(ctx context.Context, ts *testscript.TestScript, method, url, body, key, end string) string {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	ts.Check(err)
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	answer, err := http.DefaultClient.Do(r)
	ts.Check(err)
	defer answer.Body.Close()
	var text strings.Builder
	lines := bufio.NewReader(answer.Body)
	for {
		line, err := lines.ReadString('\n')
		text.WriteString(line)
		switch {
		case end != "" && strings.Contains(line, end), err != nil && end == "":
			return text.String()
		case err != nil:
			ts.Fatalf("%q did not come: %v:\n%s", end, err, text.String())
		}
	}
}
