package containerinit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// listenOutside redirects the TCP connections of nodes and pods, except those to ranges in w.Keep, to a new listener at
// w.Address. An accepted connection's local address is its original destination. No conntrack is needed, whose table
// pods could fill.
//
// A rule of nftables assigns the packets to the listener (tproxy) and marks them. A route delivers marked packets
// locally. Without a listener they are unreachable, as packets of other protocols are. All of it is in the machine's
// network namespace, so ordinary users can have it too.
func listenOutside(w wire.WayOut) (int, error) {
	at, err := netip.ParseAddrPort(w.Address)
	if err != nil || !at.Addr().Is4() || slices.ContainsFunc(w.Keep, func(p netip.Prefix) bool { return !p.Addr().Is4() }) {
		return -1, fmt.Errorf("not IPv4: %q, %v", w.Address, w.Keep)
	}
	fd, err := openSocket(wire.Socket{Network: "tcp4", Address: w.Address, Listen: true, Transparent: true})
	if err != nil {
		return -1, fmt.Errorf("listen for the outside: %w", err)
	}
	if err := leadOutside(at, w.Keep); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

const (
	wayOutName  = "slipway-egress"
	wayOutMark  = 0x51
	wayOutTable = 0x51
	// loopbackIndex is the index of the loopback interface, the first in each network namespace.
	loopbackIndex = 1
	// wayOutRule is the priority of the rule for marked packets, before that of the main table.
	wayOutRule = 100
	mangle     = -150 // NF_IP_PRI_MANGLE, before routing
)

func leadOutside(at netip.AddrPort, keep []netip.Prefix) error {
	if err := ignoreMarkOfSources(); err != nil {
		return fmt.Errorf("accept connections to the outside: %w", err)
	}
	if err := sendNetlink(unix.NETLINK_ROUTE, markedRoute()); err != nil {
		return fmt.Errorf("add a route for the outside: %w", err)
	}
	if err := sendNetlink(unix.NETLINK_ROUTE, markedRule()); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("add a rule for the outside: %w", withoutRules(err))
	}
	return filter(filterMessages(at, keep))
}

// ignoreMarkOfSources turns src_valid_mark off. With it the kernel would look up a packet's source with the packet's
// mark too. By the route for the mark every address is local, and packets from local sources are dropped. A namespace
// inherits the setting from the host, where VPN programs turn it on.
func ignoreMarkOfSources() error {
	const interfaces, setting = "/proc/sys/net/ipv4/conf", "src_valid_mark"
	there, err := os.ReadDir(interfaces)
	if err != nil {
		return err
	}
	off := func(name string) error { return os.WriteFile(filepath.Join(interfaces, name, setting), []byte("0"), 0) }
	if err := off("default"); err != nil { // first: new interfaces inherit it
		return err
	}
	for _, i := range there {
		if err := off(i.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) { // the interface may have gone
			return err
		}
	}
	return nil
}

func filter(messages []message) error {
	if err := sendNetlink(unix.NETLINK_NETFILTER, messages...); err != nil {
		return fmt.Errorf("have nftables lead connections to the outside: %w", withoutFilter(err, messages))
	}
	return nil
}

// missing is an error because the kernel lacks a part.
type missing struct {
	part string // a module, or an option of the kernel's build: CONFIG_…
	err  error
}

func (m *missing) Error() string { return "no " + m.part + ": " + m.err.Error() }

func (m *missing) Unwrap() error { return m.err }

// withoutRules returns a [missing] if the kernel lacks rules for routes, and else err.
func withoutRules(err error) error {
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EAFNOSUPPORT) {
		return &missing{"CONFIG_IP_MULTIPLE_TABLES", err}
	}
	return err
}

// withoutFilter returns a [missing] if the error of nftables means that the kernel lacks a part, and else err. The
// parts are the netlink family, nftables, its IPv4 chains, and tproxy, an expression in a module of its own.
func withoutFilter(err error, messages []message) error {
	answered, _ := errors.AsType[*refusal](err)
	about := func(kind uint16) bool {
		return answered != nil && answered.message < len(messages) && messages[answered.message].kind == unix.NFNL_SUBSYS_NFTABLES<<8|kind
	}
	switch {
	case answered == nil && errors.Is(err, unix.EPROTONOSUPPORT):
		return &missing{"nfnetlink", err}
	case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.EAFNOSUPPORT), about(unix.NFT_MSG_NEWCHAIN) && errors.Is(err, unix.ENOENT):
		return &missing{"nf_tables", err}
	case about(unix.NFT_MSG_NEWRULE) && errors.Is(err, unix.ENOENT):
		return &missing{"nft_tproxy", err}
	}
	return err
}

// markedRoute makes all addresses local, in its own routing table.
func markedRoute() message {
	header := []byte{unix.AF_INET, 0, 0, 0, wayOutTable, unix.RTPROT_STATIC, unix.RT_SCOPE_HOST, unix.RTN_LOCAL, 0, 0, 0, 0}
	return message{
		kind: unix.RTM_NEWROUTE, flags: unix.NLM_F_ACK | unix.NLM_F_CREATE | unix.NLM_F_REPLACE,
		body: append(header, number(unix.RTA_OIF, loopbackIndex)...),
	}
}

// markedRule selects that table for marked packets.
func markedRule() message {
	header := []byte{unix.AF_INET, 0, 0, 0, wayOutTable, 0, 0, unix.FR_ACT_TO_TBL, 0, 0, 0, 0}
	return message{
		kind: unix.RTM_NEWRULE, flags: unix.NLM_F_ACK | unix.NLM_F_CREATE | unix.NLM_F_EXCL,
		body: slices.Concat(header, number(unix.FRA_FWMARK, wayOutMark), number(unix.FRA_PRIORITY, wayOutRule)),
	}
}

// filterMessages replace the nftables table by a new one with the rule.
func filterMessages(at netip.AddrPort, keep []netip.Prefix) []message {
	const batch = uint16(unix.NFNL_SUBSYS_NFTABLES)
	return []message{
		{kind: unix.NFNL_MSG_BATCH_BEGIN, body: netfilterHeader(unix.AF_UNSPEC, batch)},
		filterMessage(unix.NFT_MSG_NEWTABLE, text(unix.NFTA_TABLE_NAME, wayOutName)),
		filterMessage(unix.NFT_MSG_DELTABLE, text(unix.NFTA_TABLE_NAME, wayOutName)),
		filterMessage(unix.NFT_MSG_NEWTABLE, text(unix.NFTA_TABLE_NAME, wayOutName)),
		filterMessage(unix.NFT_MSG_NEWCHAIN,
			text(unix.NFTA_CHAIN_TABLE, wayOutName), text(unix.NFTA_CHAIN_NAME, wayOutName), text(unix.NFTA_CHAIN_TYPE, "filter"),
			nested(unix.NFTA_CHAIN_HOOK, uint32BE(unix.NFTA_HOOK_HOOKNUM, unix.NF_INET_PRE_ROUTING), uint32BE(unix.NFTA_HOOK_PRIORITY, 1<<32+mangle))),
		filterMessage(unix.NFT_MSG_NEWRULE,
			text(unix.NFTA_RULE_TABLE, wayOutName), text(unix.NFTA_RULE_CHAIN, wayOutName), nested(unix.NFTA_RULE_EXPRESSIONS, expressions(at, keep)...)),
		{kind: unix.NFNL_MSG_BATCH_END, body: netfilterHeader(unix.AF_UNSPEC, batch)},
	}
}

func filterMessage(kind uint16, attributes ...[]byte) message {
	return message{
		kind: unix.NFNL_SUBSYS_NFTABLES<<8 | kind, flags: unix.NLM_F_ACK | unix.NLM_F_CREATE,
		body: slices.Concat(netfilterHeader(unix.NFPROTO_IPV4, 0), slices.Concat(attributes...)),
	}
}

func netfilterHeader(family byte, resource uint16) []byte {
	return binary.BigEndian.AppendUint16([]byte{family, unix.NFNETLINK_V0}, resource)
}

// destination is the offset of the destination address in an IPv4 header.
const destination, addressSize = 16, 4

// expressions returns those of the rule: TCP to an address outside keep goes to the listener and is marked.
func expressions(at netip.AddrPort, keep []netip.Prefix) [][]byte {
	all := [][]byte{
		expression("meta", uint32BE(unix.NFTA_META_KEY, unix.NFT_META_L4PROTO), uint32BE(unix.NFTA_META_DREG, unix.NFT_REG_1)),
		compare(unix.NFT_CMP_EQ, unix.IPPROTO_TCP),
	}
	for _, p := range keep {
		all = append(all,
			expression("payload", uint32BE(unix.NFTA_PAYLOAD_DREG, unix.NFT_REG_1), uint32BE(unix.NFTA_PAYLOAD_BASE, unix.NFT_PAYLOAD_NETWORK_HEADER),
				uint32BE(unix.NFTA_PAYLOAD_OFFSET, destination), uint32BE(unix.NFTA_PAYLOAD_LEN, addressSize)),
			expression("bitwise", uint32BE(unix.NFTA_BITWISE_SREG, unix.NFT_REG_1), uint32BE(unix.NFTA_BITWISE_DREG, unix.NFT_REG_1),
				uint32BE(unix.NFTA_BITWISE_LEN, addressSize), value(unix.NFTA_BITWISE_MASK, mask(p.Bits())...),
				value(unix.NFTA_BITWISE_XOR, make([]byte, addressSize)...)),
			compare(unix.NFT_CMP_NEQ, p.Masked().Addr().AsSlice()...))
	}
	const register1, register2 = unix.NFT_REG_1, unix.NFT_REG_2
	return append(all,
		immediate(register1, at.Addr().AsSlice()...), immediate(register2, binary.BigEndian.AppendUint16(nil, at.Port())...),
		expression("tproxy", uint32BE(tproxyFamily, unix.NFPROTO_IPV4), uint32BE(tproxyAddress, register1), uint32BE(tproxyPort, register2)),
		immediate(register1, binary.NativeEndian.AppendUint32(nil, wayOutMark)...),
		expression("meta", uint32BE(unix.NFTA_META_KEY, unix.NFT_META_MARK), uint32BE(unix.NFTA_META_SREG, register1)))
}

// tproxyFamily, tproxyAddress and tproxyPort are attributes of the expression tproxy (enum nft_tproxy_attributes in
// linux/netfilter/nf_tables.h).
const tproxyFamily, tproxyAddress, tproxyPort = 1, 2, 3

func expression(name string, attributes ...[]byte) []byte {
	return nested(unix.NFTA_LIST_ELEM, text(unix.NFTA_EXPR_NAME, name), nested(unix.NFTA_EXPR_DATA, attributes...))
}

// compare continues with the rule if the first register is equal, or not equal, to data.
func compare(how uint32, data ...byte) []byte {
	return expression("cmp", uint32BE(unix.NFTA_CMP_SREG, unix.NFT_REG_1), uint32BE(unix.NFTA_CMP_OP, how), value(unix.NFTA_CMP_DATA, data...))
}

func immediate(register uint32, data ...byte) []byte {
	return expression("immediate", uint32BE(unix.NFTA_IMMEDIATE_DREG, register), value(unix.NFTA_IMMEDIATE_DATA, data...))
}

func value(kind uint16, data ...byte) []byte {
	return nested(kind, attribute(unix.NFTA_DATA_VALUE, data...))
}

// mask returns the netmask with that many bits set.
func mask(bits int) []byte {
	return binary.BigEndian.AppendUint32(nil, ^uint32(0)<<(8*addressSize-bits))
}
