package crawlplan

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"fossick/crawler"
	"fossick/internal/terminal"
	"fossick/internal/usage"
)

// Budget is when a crawl ends.
type Budget struct {
	MaxPages   uint64         `placeholder:"N" help:"Pages to store, over all resumptions [1000]." group:"run"`
	MaxTime    time.Duration  `placeholder:"D" help:"Stop this session after this time, as 90s, 2h or 1d." group:"run"`
	Patience   string         `placeholder:"X" help:"How many times as long the crawl may take for better pages, if many hosts have good links; none never waits, auto waits only if --max-pages is the limit [auto]." group:"run" expert:"" predictor:"auto,none"`
	MinHarvest *float64       `placeholder:"X" help:"Stop when the last 200 to 1,000 pages show that less than this share of the next pages will be on topic; X in (0,1], 0 never stops [0]." group:"run" expert:""`
	MaxWait    *time.Duration `kong:"-"`
}

func (b *Budget) settings(saved *Budget) []setting {
	return []setting{
		of("max-pages", fmt.Sprint(defaultPages), &b.MaxPages, &saved.MaxPages, decimal),
		of("max-time", "", &b.MaxTime, &saved.MaxTime, terminal.Brief),
		of("patience", "auto", &b.Patience, &saved.Patience, itself),
		of("min-harvest", "0", &b.MinHarvest, &saved.MinHarvest, pointed(func(x float64) string { return fmt.Sprint(x) })),
		of("max-wait", "15m", &b.MaxWait, &saved.MaxWait, pointed(terminal.Brief)),
	}
}

const defaultPages = 1000

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// apply sets when the crawl ends.
func (b *Budget) apply(opt *crawler.Options) error {
	opt.MaxPages, opt.MaxTime = cmp.Or(b.MaxPages, defaultPages), b.MaxTime
	var err error
	if opt.Patience, err = parsePatience(b.Patience); err != nil {
		return err
	}
	if opt.Patience == 0 && b.MaxPages == 0 && b.MaxTime > 0 {
		opt.Patience = 1 // the default limit of pages is nothing that anybody pays with
	}
	if b.MaxWait != nil {
		opt.MaxWait = cmp.Or(*b.MaxWait, -1) // which is none; 0 is the crawler's default
	}
	if x := b.MinHarvest; x != nil {
		if !(*x >= 0 && *x <= 1) {
			return usage.Errorf("--min-harvest %g: give a share from 0 to 1, such as 0.05", *x)
		}
		opt.MinHarvest = *x
	}
	return nil
}
