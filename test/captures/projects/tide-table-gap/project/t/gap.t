use strict;
use warnings;
use Test::More tests => 3;
use lib 'lib';
use Tide;

is(Tide::gap(60, 805), 745, 'within a day');
is(Tide::gap(1000, 305), 745, 'over midnight');
TODO: {
    local $TODO = 'days with one high water';
    is(Tide::gap(10, undef // 0), 1490, 'only one');
}
