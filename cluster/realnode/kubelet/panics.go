package kubelet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
)

// reportPanics writes a marked line to the node's log for each panic that Kubernetes or net/http recovers, even if the
// process goes on. The cluster's status counts these lines.
func reportPanics(to io.Writer) {
	report := func(what any) {
		first, _, _ := strings.Cut(fmt.Sprint(what), "\n")
		_, _ = fmt.Fprintf(to, "%s%s\n", nodeconfig.PanicMark, first)
	}
	utilruntime.PanicHandlers = append(utilruntime.PanicHandlers, func(_ context.Context, what any) {
		if err, ok := what.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
			report(what)
		}
	})
	log.SetOutput(httpLog{to, report})
	log.SetFlags(0) // each panic must begin a line
}

// httpLog receives the standard log, in which net/http reports panics of handlers.
type httpLog struct {
	to     io.Writer
	report func(any)
}

// httpPanic is the prefix of the message that conn.serve of net/http logs about a recovered panic.
const httpPanic = "http: panic serving "

func (l httpLog) Write(p []byte) (int, error) {
	if what, ok := bytes.CutPrefix(p, []byte(httpPanic)); ok {
		l.report(string(what))
	}
	return l.to.Write(p)
}
