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

// reportPanics writes a line to the node's log for each panic that the kubelet's parts recover, whether they end the
// process then or not. Elsewhere a panic is a few lines among thousands; the cluster's status counts these.
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
	log.SetFlags(0) // a panic is to be at the line's beginning
}

// httpLog is the standard log, which net/http reports panics of handlers to.
type httpLog struct {
	to     io.Writer
	report func(any)
}

// httpPanic is how net/http begins the report of a panic that it has recovered.
const httpPanic = "http: panic serving "

func (l httpLog) Write(p []byte) (int, error) {
	if what, ok := bytes.CutPrefix(p, []byte(httpPanic)); ok {
		l.report(string(what))
	}
	return l.to.Write(p)
}
