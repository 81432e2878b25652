package main

import (
	"errors"
	"io"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"fossick/crawler/urlfrontier/api"
)

// frontierClient asks a frontier as a crawler in another language does.
type frontierClient struct {
	t    *testing.T
	conn *grpc.ClientConn
}

const frontierService = "/urlfrontier.URLFrontier/"

func newFrontierClient(t *testing.T, addr string) frontierClient {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return frontierClient{t, conn}
}

// ask makes a call that has one answer.
func (c frontierClient) ask(call string, in, out any) {
	c.t.Helper()
	if err := c.conn.Invoke(c.t.Context(), frontierService+call, in, out); err != nil {
		c.t.Fatalf("%s: %v", call, err)
	}
}

// put sends URLs and calls acked for each that was acknowledged, in their order. The error
// is that of a frontier that went away meanwhile.
func (c frontierClient) put(items []*api.URLItem, acked func(item *api.URLItem, status api.AckMessage_Status)) error {
	s, err := c.conn.NewStream(c.t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, frontierService+"PutURLs")
	if err != nil {
		return err
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for _, item := range items {
			if s.SendMsg(item) != nil {
				return // the answers say why
			}
		}
		_ = s.CloseSend() // likewise
	}()
	defer func() { <-sent }()
	for i := 0; ; i++ {
		ack := new(api.AckMessage)
		if err := s.RecvMsg(ack); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		acked(items[i], ack.GetStatus())
	}
}

// take gets URLs.
func (c frontierClient) take(p *api.GetParams) (all []*api.URLInfo) {
	c.t.Helper()
	s, err := c.conn.NewStream(c.t.Context(), &grpc.StreamDesc{ServerStreams: true}, frontierService+"GetURLs")
	if err == nil {
		err = errors.Join(s.SendMsg(p), s.CloseSend())
	}
	for err == nil {
		info := new(api.URLInfo)
		if err = s.RecvMsg(info); err == nil {
			all = append(all, info)
		}
	}
	if !errors.Is(err, io.EOF) {
		c.t.Fatal(err)
	}
	return all
}

func foundURL(info *api.URLInfo) *api.URLItem {
	return &api.URLItem{Item: &api.URLItem_Discovered{Discovered: &api.DiscoveredURLItem{Info: info}}}
}

func knownURL(info *api.URLInfo) *api.URLItem {
	return &api.URLItem{Item: &api.URLItem_Known{Known: &api.KnownURLItem{Info: info}}}
}
