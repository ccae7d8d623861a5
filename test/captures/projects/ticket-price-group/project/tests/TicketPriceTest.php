<?php

require_once __DIR__ . '/../src/TicketPrice.php';

use PHPUnit\Framework\TestCase;

final class TicketPriceTest extends TestCase
{
    /** @dataProvider groups */
    public function testGroupsPayLess(int $people, int $cents): void
    {
        $this->assertSame($cents, TicketPrice::forGroup($people));
    }

    public static function groups(): array
    {
        return ['one person' => [1, 1000], 'exactly ten' => [10, 8000], 'a bus' => [40, 32000]];
    }

    public function testSchools(): void
    {
        $this->markTestIncomplete('Schools are not priced yet.');
    }
}
