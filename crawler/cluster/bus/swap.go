package bus

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"fossick/crawler/cluster"
	"fossick/crawler/cluster/limits"
)

// writerHeader has the mark of the call of Swap that wrote a value.
const writerHeader = "Fossick-Swap"

// Swap is cluster.Exchange's. It tries again until ctx ends, and writes once. After another
// error than ErrRevision the value may have been written all the same.
func (b *Bus) Swap(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if err := limits.Key(key, value); err != nil {
		return 0, err
	}
	ctx, done := b.until(ctx)
	defer done()
	return b.values.swap(ctx, key, value, revision)
}

func (b *bucket) swap(ctx context.Context, key string, value []byte, revision uint64) (written uint64, err error) {
	writer := nuid.Next()
	unsure := false // an attempt had no answer, and may have been the one that wrote
	err = b.insist(ctx, func(one context.Context) (err error) {
		m := &nats.Msg{Subject: b.subject(key), Data: value, Header: nats.Header{}}
		m.Header.Set(writerHeader, writer)
		m.Header.Set(jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(revision, 10))
		written, err = b.publish(one, m)
		unsure = unsure || err != nil && !forGood(err)
		return err
	})
	if unsure && errors.Is(err, cluster.ErrRevision) {
		return b.ownWrite(ctx, key, writer)
	}
	if err != nil {
		return 0, fmt.Errorf("key %s: %w", key, err)
	}
	return written, nil
}

// ownWrite tells whether it was this call that gave the key its other revision.
func (b *bucket) ownWrite(ctx context.Context, key, writer string) (uint64, error) {
	all, err := b.read(ctx, key)
	if err == nil && all[key].writer != writer {
		err = cluster.ErrRevision
	}
	if err != nil {
		return 0, fmt.Errorf("key %s: %w", key, err)
	}
	return all[key].Revision, nil
}

// publish writes a message to the bucket and returns its number, once most of the servers
// have it.
func (b *bucket) publish(ctx context.Context, m *nats.Msg) (uint64, error) {
	ack, err := b.js.PublishMsg(ctx, m, jetstream.WithRetryAttempts(0))
	var refused *jetstream.APIError
	switch {
	case err == nil:
		return ack.Sequence, nil
	case !errors.As(err, &refused):
		return 0, err
	case refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant:
		return 0, cluster.ErrRevision
	case refused.ErrorCode == tooManyInTable:
		return 0, fmt.Errorf("%w: %d (%v)", limits.ErrFull, limits.Keys, err)
	}
	return 0, err
}
