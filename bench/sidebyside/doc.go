// Package sidebyside compares how long programs take, fairly on a machine that is
// busy with other things: the contenders run in turn (A B A B …) within one
// comparison, so that what disturbs one disturbs the other, and medians are
// compared, not sums.
//
//	ours := sidebyside.Process("slipway generate", func(ctx context.Context) *exec.Cmd { … })
//	peer := sidebyside.Process("controller-gen", func(ctx context.Context) *exec.Cmd { … })
//	results, err := sidebyside.Compare(ctx, 7, ours, peer)
//	row := sidebyside.Row{Case: "CronJob, warm", Ours: results[0], Peer: results[1], Bar: 0.1}
//	err = sidebyside.Table(os.Stdout, row)
//
// [Process] measures a whole process from start to exit, with its children's CPU time.
// A measurement that ends earlier or is not of a process (a server that becomes ready)
// is a [Contender] with a Run of its own.
//
// A comparison measures and reports; whether a bar was missed is for its caller
// to decide ([Row.Passed]). Figures of different comparisons must not be compared.
package sidebyside
