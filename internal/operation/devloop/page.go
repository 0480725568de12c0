package devloop

import (
	"context"

	"github.com/slipway-dev/slipway/internal/operation/delivery"
	"github.com/slipway-dev/slipway/internal/report"
)

// showPage serves the page about the cluster of the session; one that is open shows it from now on. The loop goes on
// without it.
func (p *project) showPage(ctx context.Context) {
	if shown := p.page.Load(); shown != nil {
		shown.Turn(ctx, p.asks, p.around.Load().Cluster())
		return
	}
	shown, err := delivery.ShowPage(ctx, p.asks, p.around.Load().Cluster())
	if err != nil {
		p.handler.Handle(report.Warning{Text: report.Advised(err)})
		return
	}
	p.page.Store(shown)
	p.linkPage()
}

// linkPage shows the link to the page.
func (p *project) linkPage() {
	if shown := p.page.Load(); shown != nil {
		p.handler.Handle(report.Note{Text: "all that happens, as a page: " + shown.Link("/") + " (the link works once)"})
	}
}

func (p *project) closePage() {
	if shown := p.page.Swap(nil); shown != nil {
		shown.Close()
	}
}
