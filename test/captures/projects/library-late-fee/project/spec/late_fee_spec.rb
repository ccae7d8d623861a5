require_relative '../lib/late_fee'

RSpec.describe LateFee do
  it 'grows by the day' do
    expect(LateFee.new(10).cents - LateFee.new(9).cents).to eq(25)
  end

  context 'within the free days' do
    it 'asks for nothing' do
      expect(LateFee.new(3).cents).to eq(0)
    end
  end

  it 'is capped' do
    pending 'nobody decided the cap yet'
    expect(LateFee.new(400).cents).to be < 2_000
  end
end
